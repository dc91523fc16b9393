package crawler

import "strings"

// role is a set of bits: what a word indicates about the client that sends it,
// independently of the words next to it.
type role uint64

const (
	roleMozilla     role = 1 << iota // `mozilla`, with which browsers' User-Agents begin
	roleEngine                       // a layout engine
	roleBrowser                      // a browser's product token
	rolePlatform                     // an operating system or a device that a person uses
	roleUnix                         // an operating system that both people and servers use
	roleApp                          // a runtime of apps, or the name of an app or a player
	roleBrand                        // a maker of devices
	roleNoise                        // a word of browsers' and apps' User-Agents that indicates nothing
	roleLike                         // `like`: the next word is a comparison
	roleCompatible                   // `compatible`: the client's name follows
	roleScheme                       // the scheme of a URL
	roleAndroid                      // the name of an Android device follows
	roleCrawlerWord                  // a word for a crawler: bot, spider
	roleTask                         // a word for what crawlers do, which browsers don't send (crawlerTasks)
	roleWeakTask                     // a word for what both crawlers and other programs do (likelyTasks, programTasks)
	roleLikelyTask                   // with roleWeakTask: the program is more likely a crawler than an app (likelyTasks)
	roleLibrary                      // an HTTP client, or a word for one
	roleMedia                        // music, broadcasts, podcasts: usually an app
	roleAt                           // `at` of an address like `ops at acme dot com`
	roleDot                          // `dot` of such an address
	roleKHTML                        // `khtml`, with which a comment of today's browsers begins
	roleMobile                       // a telephone, a tablet, a television, or a program that embeds a browser: the User-Agent can name an app
	roleIE                           // Internet Explorer; other programs added their names to its User-Agent
	roleGecko                        // `gecko`, with which the KHTML comment compares
	roleMain                         // a browser's name that other programs send too: an address after it is not the browser's home page
	roleInstalled                    // a word that Windows adds to Internet Explorer's User-Agent on a person's computer
	roleForm                         // a word of a platform's form (see platformForm)
	roleChrome                       // Chrome's own product
	roleSafari                       // Safari's own product
	roleVersion                      // Safari's version
	roleWebView                      // an Android app that shows pages
	roleAnyBrowser                   // `browser`
	roleHook                         // with roleTask: the delivery of events that a site asked for
)

// words lists the vocabulary: words that browsers, apps and devices send, and words for crawlers.
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
	{roleCrawlerWord, `bot bots robot robots spider spiders crawler crawlers crawl crawling crawls webcrawler webspider webbot botu spyder xrawler`},
	{roleLibrary, `httpclient http-client libwww libhttp httplib http-kit urllib rest restclient soap sdk wget curl php perl python python2 python3 ruby
		golang node nodejs jakarta dotnet netty`},
	{roleTask, crawlerTasks},
	{roleHook | roleTask, `webhook webhooks hookshot`},
	{roleWeakTask | roleLikelyTask, likelyTasks},
	{roleWeakTask, programTasks},
}

// crawlerTasks lists words for what crawlers do, which browsers don't send. Each counts alone and as the last part of a longer word
// (LinkChecker), whatever words are next to it.
const crawlerTasks = `checker monitor monitoring scanner scan scanning fetcher fetch parser scraper scrape scraping harvester harvest archiver archiving
validator validation grabber extractor extract analyzer analyser indexer indexing resolver expander unshortener importer preview previewer
previews thumbnailer webthumb thumb screenshot screenshots screenshotter pinger uptime healthcheck probe prober prefetch preload prerender renderer
webrender headless synthetic synthetics transcoder imageproxy detector detection inspector
auditor survey observatory diagnostics benchmark copier sucker webmon classifier researchscan unfurl unfurler linkexpander feedfetcher feedparser
feedfinder newsgathering webmonitor antivirus lighthouse pagespeed linkcheck linkchecker metrics translate
`

// likelyTasks lists words for what crawlers do, which apps send too. They count only if nothing indicates a person.
const likelyTasks = `check monit archive grab analysis analytics test tester testing generator mirror ripper search searcher searchengine finder seeker hunter
subscriber subscribers aggregator collector callout sitemap watchdog inspect audit security virus rank rating ranking seo
compliance dns ssl linter lookup quality`

// programTasks lists words in the names of programs of all kinds, of programs on people's computers as often as of crawlers. Alone they
// indicate a program.
const programTasks = `agent downloader proxy cloud daemon worker processor transcriber updater tool tools service services server engine pipeline integration
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

// BrowserWord reports whether a token would match people's User-Agents: one of
// people.txt has it, or browsers, apps or devices send all of its words. Words
// that crawlers send too (`search`) and numbers are among them. It is false for a
// token without a word or number.
func BrowserWord(token string) bool {
	return peopleIndex().send(foldToken(token)) || onlyBrowserWords(token)
}

// onlyBrowserWords reports whether all words of a token are in the vocabulary of
// browsers, apps and devices.
func onlyBrowserWords(token string) bool {
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
		if s := baseTable.find(hash); !number && (s == nil || s.role&(sentByBrowsers|roleWeakTask|roleMedia) == 0) {
			return false
		}
		i += n
		words++
	}
	return words > 0
}

// topLevel holds the top-level domains that distinguish a host name without a scheme from other words with dots.
var topLevel = func() *wordTable {
	const list = `com net org info biz edu gov mil int io ai co de fr uk eu ru cz sk pl it es pt nl be at ch se no fi dk is ie us ca br ar mx cl jp cn kr tw hk sg
in au nz za tr gr hu ro bg hr si rs ua by lt lv ee il ir me tv fm cc ws app dev tech cloud online site xyz club blog news tools fun page link live
world pro domains pub top vip one me pw su asia mobi jobs travel eu services exchange science agency digital media network systems solutions services buzz zone space website host email email email nu to la ly gl gg sh`
	m := map[string]role{}
	for w := range strings.FieldsSeq(list) {
		m[w] = roleNoise
	}
	return buildTable(nil, m)
}()
