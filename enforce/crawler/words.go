package crawler

import "strings"

// role is what a word indicates about the client that sends it, whatever words
// are next to it.
type role uint64

const (
	roleMozilla    role = 1 << iota // the compatibility word that browsers begin with
	roleEngine                      // a layout engine
	roleBrowser                     // a browser's product token
	rolePlatform                    // an operating system or a machine of a person
	roleUnix                        // an operating system of people and of servers
	roleApp                         // a runtime or a product of apps, players and televisions
	roleBrand                       // a maker of devices
	roleNoise                       // a word of such User-Agents that says nothing
	roleLike                        // what follows is a comparison
	roleCompatible                  // what follows is the client's name
	roleScheme                      // of a URL
	roleAndroid                     // a device name follows
	roleStrong                      // "crawler" in one of its forms
	roleWork                        // a robot's work
	roleHint                        // what may be a robot's work
	roleSure                        // with roleHint: what is a robot's rather than an app's
	roleLibrary                     // an HTTP client, or a word for one
	roleMedia                       // music, broadcasts, podcasts: what apps are for
	roleAt                          // of an address that is spelt out
	roleDot                         // of an address that is spelt out
	roleKHTML                       // opens the comment on compatibility of today's browsers
	roleMobile                      // a telephone, a tablet, or a program around a browser: its User-Agent can name an app
	roleIE                          // Internet Explorer, to whose name other programs added theirs
	roleGecko                       // what the comment on KHTML compares with
	roleMain                        // a word that other programs' User-Agents repeat: what stands behind it is not its home page
	roleInstalled                   // what Windows adds to Internet Explorer's User-Agent on a person's machine
	roleForm                        // a word of a platform's own form (see platformForm)
	roleChrome                      // Chrome's own product
	roleSafari                      // Safari's own product
	roleVersion                     // Safari's version
	roleWebView                     // Android's view of pages inside an app
	roleAnyBrowser                  // the word for browsers, which is no browser's name
	roleHook                        // a robot's work that a site asked for: the delivery of events
)

// words lists the vocabulary: what browsers, apps and devices send, and what robots call themselves.
var words = []struct {
	role role
	list string
}{
	{roleMozilla, `mozilla`},
	{roleEngine | roleBrowser, `applewebkit webkit khtml gecko trident presto goanna servo netfront edgehtml blink mshtml tasman nextgen kds`},
	{roleBrowser, `opera explorer mosaic chrome safari firefox msie opr opera opios opt edge edg edga edgios crios fxios focus klar fennec iceweasel icecat palemoon
		seamonkey camino epiphany galeon konqueror k-meleon kmeleon netscape navigator phoenix firebird minefield namoroka shiretoko granparadiso
		bonecho swiftfox swiftweasel waterfox cyberfox basilisk conkeror flock songbird rockmelt iron srware comodo_dragon dragon icedragon
		chromium chromeplus coolnovo vivaldi yabrowser yowser ucbrowser ucweb ubrowser u2 u3 miuibrowser samsungbrowser samsung_internet silk
		silk-accelerated maxthon mxnitro mxbrowser myie2 myie tencenttraveler qqbrowser mqqbrowser qq tbs micromessenger 360se 360ee 360browser qihu
		metasr lbbrowser liebao theworld greenbrowser avant avantbrowser slimbrowser lunascape sleipnir crazy orca acoo deepnet netcaptor
		sogoumobilebrowser sogou baidubrowser bidubrowser baiduboxapp bdbrowser baidu whale naver puffin dolphin skyfire bolt teashark obigo
		ovibrowser polaris jasmine teleca openwave phonecom blazer netpositive ibrowse aweb voyager amaya arora midori uzbl dillo links lynx elinks w3m
		netsurf surf luakit dooble qutebrowser otter otterbrowser falkon qupzilla rekonq konqueror reqwirelessweb iemobile msiemobile
		chromeframe aol aolbuild america aolapp compuserve webtv hotjava icab omniweb shiira sunrise stainless cruz demeter oregano fireweb
		msoffice ms-office trident crosswalk electron qtwebengine qtwebkit webview ddg duckduckgo brave ghostery aloha alohabrowser avast avg ccleaner
		ncsa_mosaic webpositive avantgo elaine eudoraweb kazehakase coc_coc_browser coccoc kiwi bromite cromite via phx atom atoms citrio epic torch sputnik sputnikbrowser amigo nichrome rambler
		yandexsearch yandexsearchbrowser ecosia mobilesafari kinza blisk colibri mypal iridium slimjet ucturbo lunar
		heytapbrowser vivobrowser huaweibrowser hibrowser oppobrowser jiosphere phoenixbrowser xiaomi instabridge owb origyn odyssey abrowse antfresco
		antgalio dplus bing bingsapphire sapphire gsa fban fbav fb_iab fbios instagram line snapchat pinterest twitter linkedin linkedinapp
		tiktok musical_ly bytelocale bytedancewebview trill kakaotalk zalo viber weibo weiboIntl wechat alipay alipayclient dingtalk aweme toutiao
		newsarticle discover whatsapp telegram messenger flipboard reddit tumblr quora headless360 aliapp ariver uws windvane
		webbrowser netfront obigo-browser bada dolfin jblend infusion mib cldc midp profile configuration untrusted doja`},
	{rolePlatform, `windows win win16 win32 win64 win95 win98 winnt wow64 wow nt macintosh mac macos ppc intel iphone ipad ipod ios os iphone_os
		watchos tvos ipados visionos blackberry bb10 playbook rim symbian symbianos symbos series40 series60 series80 series90 s60 s60version s40
		webos hpwos palmos palm palmsource danger hiptop maemo meego sailfish tizen kaios windowsphone amigaos amiga morphos aros beos haiku
		risc os2 warp nintendo nitro playstation psp psvita xbox wii wiiu kindle cros chromeos harmonyos openharmony silo brew j2me
		smarttv smart-tv hbbtv googletv appletv roku tivo viera bravia netcast webostv aquosbrowser vidaa web0s ce-html netrange dlna upnp
		microsoft media center tablet touch slcc1 slcc2 infopath clr`},
	{roleAt, `at`},
	{roleDot, `dot`},
	{roleMobile | rolePlatform, `iphone ipad ipod iphone_os symbian symbianos symbos series40 series60 blackberry bb10 windowsphone`},
	{roleMobile | roleNoise, `mobile tablet phone`},
	{roleMobile | rolePlatform, `smarttv smart-tv hbbtv googletv appletv netcast webos webostv web0s tizen viera bravia aquosbrowser vidaa netrange roku
		nintendo nitro playstation psp psvita xbox wii wiiu ce iemobile msiemobile palmos palmsource danger hiptop bada maemo meego
		sailfish kaios brew j2me midp cldc pda`},
	{roleMobile, `android adr omdroid midp electron qtwebengine cordova`},
	{roleKHTML | roleEngine, `khtml`},
	{roleIE | roleBrowser, `msie`},
	{roleAnyBrowser, `browser`},
	{roleGecko | roleEngine | roleBrowser, `gecko`},
	{roleMain | roleBrowser, `chrome safari firefox edg edge opr opera msie explorer chromium`},
	{roleChrome | roleBrowser, `chrome`},
	{roleSafari | roleBrowser, `safari`},
	{roleVersion | roleNoise, `version`},
	{roleWebView | roleNoise, `wv`},
	{roleInstalled | roleNoise, `clr sv1 trident infopath slcc1 slcc2 gtb gtb5 gtb6 gtb7 funwebproducts hotbar mra`},
	{roleForm, `cfnetwork dalvik alamofire okhttp cronet ios iphone ipad ipod appletv watch watchos tvos`},
	{roleUnix, `linux x11 ubuntu debian fedora gentoo suse opensuse mandriva mint slackware redhat centos arch freebsd openbsd netbsd dragonfly
		sunos solaris irix hp-ux aix osf1 unix wayland`},
	{roleAndroid | rolePlatform, `android adr omdroid`},
	{roleApp, `cfnetwork darwin dalvik exoplayerlib exoplayer exoplayer2 applecoremedia stagefright mediaplayer coremedia vlc libvlc mpv lavf nsplayer
		windows-media-player wmplayer wmfsdk winamp itunes quicktime realplayer realmedia xbmc kodi plex sonos airplay airsonic subsonic
		nsurlsession uiwebview wkwebview alamofire titanium cordova flutter unity unityplayer xamarin reactnative
		tpapi watch carplay homepod appletv apple-pubsub foobar2000 audacious rhythmbox amarok clementine banshee mplayer gstreamer souphttpsrc
		thunderbird outlook foxmail lotus-notes eudora postbox mailbird skype spotify deezer tidal tunein audible overcast pocketcasts antennapod castbox
		podcasts podcatcher podcastaddict downcast icatcher beyondpod castro instacast podbean doggcatcher gpodder
		liferea akregator rssowl netnewswire reeder readkit feeddemon newsgator rssbandit vienna quiterss newsflash feedstation evergreen juice castero cpod
		breaker stitcher acast himalaya bullhorn podchaser goodpods podverse podkicker podfriend kasts awasu outcast ivoox radioline xiaoyuzhou ximalaya
		gaana jiosaavn wynk anghami boomplay hungama soundon soundcloud pandora napster victorreader netflix
		frontpage teams onedrive`},
	{roleBrand, `samsung nokia lg lge htc motorola mot moto sonyericsson sony ericsson siemens sie alcatel huawei honor zte lenovo asus acer dell
		hp philips panasonic sharp kyocera sanyo toshiba fujitsu nec sagem pantech vertu blackberry palm oppo vivo realme oneplus xiaomi redmi
		meizu coolpad gionee tecno infinix itel micromax lava karbonn spice intex cubot doogee ulefone umidigi oukitel blackview wiko bq archos
		hisense haier tcl amoi bird benq danger garmin pixel nexus kddi docomo foma softbank vodafone orange sprint cingular verizon`},
	{roleNoise, `user-agent useragent java u i n en en-us en-gb de fr es it ru zh-cn zh ja ko pt pt-br nl pl rv build mobile version release wv like x64 x86 x86_64 i386 i586
		i686 amd64 arm arm64 armv7l armv8l aarch64 ia64 sv1 net net4 k internet generic gzip gfe utf-8 for by the and of on in to a an with
		desktop phone model language locale security`},
	{roleLike, `like`},
	{roleCompatible, `compatible`},
	{roleScheme, `http https ftp`},
	{roleStrong, `bot bots robot robots spider spiders crawler crawlers crawl crawling crawls webcrawler webspider webbot botu spyder xrawler`},
	{roleLibrary, `httpclient http-client libwww libhttp httplib http-kit urllib rest restclient soap sdk wget curl php perl python python2 python3 ruby
		golang node nodejs jakarta dotnet netty`},
	{roleWork, work},
	{roleHook | roleWork, `webhook webhooks hookshot`},
	{roleHint | roleSure, hints},
	{roleHint, tasks},
}

// work lists what robots do for a living, in words that browsers don't send. Each counts by itself and as the last part of a longer
// word (LinkChecker), whatever words are next to it.
const work = `checker monitor monitoring scanner scan scanning fetcher fetch parser scraper scrape scraping harvester harvest archiver archiving
validator validation grabber extractor extract analyzer analyser indexer indexing resolver expander unshortener importer preview previewer
previews thumbnailer webthumb thumb screenshot screenshots screenshotter pinger uptime healthcheck probe prober prefetch preload prerender renderer
webrender headless synthetic synthetics transcoder imageproxy detector detection inspector
auditor survey observatory diagnostics benchmark copier sucker webmon classifier researchscan unfurl unfurler linkexpander feedfetcher feedparser
feedfinder newsgathering webmonitor antivirus lighthouse pagespeed linkcheck linkchecker metrics translate
`

// hints lists words of the same kind that apps send too: they count where nothing speaks for a person.
const hints = `check monit archive grab analysis analytics test tester testing generator mirror ripper search searcher searchengine finder seeker hunter
subscriber subscribers aggregator collector callout sitemap watchdog inspect audit security virus rank rating ranking seo
compliance dns ssl linter lookup quality`

// tasks lists words that programs of all kinds have in their names, those on people's machines no less than robots: alone they make a program.
const tasks = `agent downloader proxy cloud daemon worker processor transcriber updater tool tools service services server engine pipeline integration
connector gateway tracker sync import export feed reader compress optimizer optimization`

// vocabulary maps each word to its roles.
var vocabulary = func() map[string]role {
	v := map[string]role{}
	for _, w := range words {
		for word := range strings.FieldsSeq(w.list) {
			v[strings.ToLower(word)] |= w.role
		}
	}
	return v
}()

// sentByBrowsers are the roles of words that browsers, apps and devices send.
const sentByBrowsers = roleMozilla | roleEngine | roleBrowser | roleAnyBrowser | rolePlatform | roleUnix | roleApp | roleBrand | roleNoise | roleLike |
	roleCompatible | roleAndroid | roleScheme

// BrowserWord reports whether token is a word, or several, that browsers, apps
// or devices send, or a word that both robots and apps send (`search`). A
// crawler with such a token would match people's User-Agents.
func BrowserWord(token string) bool {
	words := 0
	for i := 0; i < len(token); {
		hash, n := firstWord(token[i:])
		if n == 0 {
			i++
			continue
		}
		number := true
		for _, c := range []byte(token[i : i+n]) {
			number = number && '0' <= c && c <= '9'
		}
		if s := baseTable.find(hash); !number && (s == nil || s.role&(sentByBrowsers|roleHint|roleMedia) == 0) {
			return false
		}
		i += n
		words++
	}
	return words > 0
}

// topLevel holds the top-level domains by which a host name without a scheme is told from other dotted words.
var topLevel = func() *table {
	const list = `com net org info biz edu gov mil int io ai co de fr uk eu ru cz sk pl it es pt nl be at ch se no fi dk is ie us ca br ar mx cl jp cn kr tw hk sg
in au nz za tr gr hu ro bg hr si rs ua by lt lv ee il ir me tv fm cc ws app dev tech cloud online site xyz club blog news tools fun page link live
world pro domains pub top vip one me pw su asia mobi jobs travel eu services exchange science agency digital media network systems solutions services buzz zone space website host email email email nu to la ly gl gg sh`
	m := map[string]role{}
	for w := range strings.FieldsSeq(list) {
		m[w] = roleNoise
	}
	return buildTable(nil, m)
}()
