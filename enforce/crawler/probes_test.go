package crawler_test

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// User-Agents in the form that the sources of the rows state.
var knownClients = []struct {
	class crawler.Class
	name  string
	ua    string
}{
	// health checks of load balancers, content delivery networks and hosting services
	{crawler.Probe, "Azure Front Door", "Edge Health Probe"},
	{crawler.Probe, "Azure Traffic Manager", "Azure Traffic Manager Endpoint Monitor"},
	{crawler.Probe, "Azure Load Balancer", "Load Balancer Agent"},
	{crawler.Probe, "Azure App Service", "ReadyForRequest/1.0 (HealthCheck)"},
	{crawler.Probe, "Azure App Service", "ReadyForRequest/1.0+(HealthCheck)"},
	{crawler.Probe, "Azure App Service", "AlwaysOn"},
	{crawler.Probe, "", "HealthCheck/1.0"},
	{crawler.Probe, "AppInsights", "Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; AppInsights)"},
	{crawler.Probe, "Consul", "Consul Health Check"},
	{crawler.Probe, "Nomad", "Nomad/1.8.0 (+https://www.nomadproject.io/; go1.22.3)"},
	{crawler.Probe, "Envoy", "Envoy/HC"},
	{crawler.Probe, "Fastly", "Varnish/fastly (healthcheck)"},
	{crawler.Probe, "NGINX Plus", "nginx/1.25.1 (health check)"},
	{crawler.Probe, "Railway", "RailwayHealthCheck/1.0"},
	{crawler.Probe, "kamal-proxy", "kamal-proxy"},
	{crawler.Probe, "KeepAliveClient", "KeepAliveClient"},
	{crawler.Probe, "clb-healthcheck", "clb-healthcheck"},
	{crawler.Probe, "NS1", "NS1 HTTP Monitoring Job"},
	{crawler.Probe, "kube-probe", "kube-probe/1.30"},
	{crawler.Probe, "ELB-HealthChecker", "ELB-HealthChecker/2.0"},
	{crawler.Probe, "GoogleHC", "GoogleHC/1.0"},
	{crawler.Probe, "Amazon Route 53", "Amazon-Route53-Health-Check-Service (ref 00000000-0000-0000-0000-000000000000; report http://amzn.to/1vsZADi)"},
	{crawler.Probe, "Cloudflare Health Checks", "Mozilla/5.0 (compatible;Cloudflare-Healthchecks/1.0;+https://www.cloudflare.com/; healthcheck-id: 0000000000000000)"},

	// monitors that anyone can run
	{crawler.Probe, "Gatus", "Gatus/1.0"},
	{crawler.Probe, "Monit", "Monit/5.33.0"},
	{crawler.Probe, "Uptime-Kuma", "Uptime-Kuma/2.0.0"},
	{crawler.Probe, "Prometheus", "Blackbox Exporter/0.25.0"},
	{crawler.Probe, "VictoriaMetrics", "vm_promscrape"},
	{crawler.Probe, "Nagios", "check_http/v2.4.0 (monitoring-plugins 2.4.0)"},
	{crawler.Probe, "Nagios", "check_curl/v2.4.0 (monitoring-plugins 2.4.0, libcurl/8.5.0 OpenSSL/3.0.13)"},
	{crawler.Probe, "Sensu", "Sensu-HTTP-Check"},
	{crawler.Probe, "Checkmk", "checkmk-active-httpv2/2.4.0"},
	{crawler.Probe, "PRTG", "Mozilla/5.0 (compatible; PRTG Network Monitor (www.paessler.com); Windows)"},
	{crawler.Probe, "PRTG", "Mozilla/5.0 (compatible; PRTGCloudBot/1.0; +https://www.paessler.com/prtgcloudbot; for_[licensehash])"},
	{crawler.Probe, "PHP Server Monitor", "Mozilla/5.0 (compatible; phpservermon/3.5.2; +http://www.phpservermonitor.org)"},
	{crawler.Probe, "MainWP", "Mozilla/5.0 (compatible; MainWP/5.1; +http://mainwp.com)"},
	{crawler.Probe, "OpenStatus", "OpenStatus/1.0"},
	{crawler.Probe, "Grafana Synthetic Monitoring", "synthetic-monitoring-agent/v0.14.3 (linux amd64; g0000000; +https://github.com/grafana/synthetic-monitoring-agent)"},

	// services
	{crawler.Probe, "CloudWatch Synthetics", "Mozilla/5.0 (X11; Linux x86_64)" + engine + " HeadlessChrome/124.0.0.0 CloudWatchSynthetics/arn:aws:synthetics:eu-west-1:000000000000:canary:acme"},
	{crawler.Probe, "Sematext", "Mozilla/5.0 (X11; Linux x86_64)" + engine + " HeadlessChrome/124.0.0.0 +SematextSyntheticsRobot"},
	{crawler.Probe, "Datadog", "Mozilla/5.0 (X11; Linux x86_64)" + engine + " HeadlessChrome/124.0.0.0 DatadogSynthetics"},
	{crawler.Probe, "SolarWinds Observability", "Mozilla/5.0 (Linux) AppleWebKit/537.36 (KHTML, like Gecko) SolarWindsTransactionBot/1.0 Safari/537.36 Chrome/134.0.0.0"},
	{crawler.Probe, "SolarWinds Observability", "solarwinds/1.0 (www.solarwinds.com/solarwinds-observability)"},
	{crawler.Probe, "DigitalOcean Uptime", "DigitalOcean Uptime Probe 0.22.0 (https://digitalocean.com)"},
	{crawler.Probe, "Sentry Uptime", "SentryUptimeBot/1.0 (+http://docs.sentry.io/product/monitors/uptime-monitoring/)"},
	{crawler.Probe, "AppSignal", "AppSignalBot/1.0 (+https://appsignal.com)"},
	{crawler.Probe, "Honeybadger", "Honeybadger Uptime Check"},
	{crawler.Probe, "Jetpack", "jetmon/1.0 (Jetpack Site Uptime Monitor by WordPress.com)"},
	{crawler.Probe, "LogicMonitor", "LogicMonitor SiteMonitor/1.0"},
	{crawler.Probe, "AppBeat", "Mozilla/5.0 (compatible; AppBeat/1.0; +http://www.appbeat.io/)"},
	{crawler.Probe, "Wormly", "Mozilla/5.0 (compatible; WormlyBot; +http://wormly.com)"},
	{crawler.Probe, "Montastic", "Mozilla/5.0 (compatible; MontasticMonitor; +https://montastic.com/)"},
	{crawler.Probe, "WEDOS OnLine", "WEDOS OnLine monitoring; https://www.wedos.online/"},
	{crawler.Probe, "internetVista", "internetVista monitor (Mozilla compatible)"},
	{crawler.Probe, "WebGazer", "WebGazer/1.0 (+https://www.webgazer.io)"},
	{crawler.Probe, "Netumo", "Netumo/0.2 (+https://www.netumo.app/)"},
	{crawler.Probe, "BinaryCanary", "BinaryCanary/1.0 (+https://www.binarycanary.com)"},
	{crawler.Probe, "OnlineOrNot", "OnlineOrNot.com_bot_1.0"},
	{crawler.Probe, "Exit1", "Exit1-Website-Monitor/1.0"},
	{crawler.Probe, "cron-job.org", "Mozilla/4.0 (compatible; cron-job.org; http://cron-job.org/abuse/)"},
	{crawler.Probe, "EasyCron", "EasyCron/1.0 (https://www.easycron.com/)"},

	// tools that name an address, as if they were crawlers
	{crawler.Program, "Terraform", "HashiCorp Terraform/1.9.5 (+https://www.terraform.io)"},
	{crawler.Program, "Terraform", "APN/1.0 HashiCorp/1.0 Terraform/1.9.5 (+https://www.terraform.io) terraform-provider-acme/1.0 (+https://registry.terraform.io/providers/acme/acme)"},
	{crawler.Program, "OpenTofu", "OpenTofu/1.8.0 (+https://opentofu.org)"},
	{crawler.Program, "Vagrant", "Vagrant/2.4.0 (+https://www.vagrantup.com; ruby3.1.4)"},
	{crawler.Program, "Packer", "Packer/1.11.0 (+https://www.packer.io/; go1.21.8; linux/amd64)"},
	{crawler.Program, "Vault", "Vault/1.17.0 (+https://www.vaultproject.io/; go1.22.3)"},
	{crawler.Program, "Dependabot", "dependabot-core/0.325.1 excon/1.2.5 ruby/3.4.5 (x86_64-linux) (+https://github.com/dependabot/dependabot-core)"},
	{crawler.Program, "Renovate", "RenovateBot/38.0.0 (https://github.com/renovatebot/renovate)"},
	{crawler.Program, "GoModuleMirror", "GoModuleMirror/1.0 (+https://go.example)"},
	{crawler.Program, "Nextcloud", "Nextcloud Server Crawler"},
	{crawler.Program, "Nextcloud", "Nextcloud-Server-Crawler/33.0.0"},
	{crawler.Program, "Sentry", "sentry/8.22.0 (https://sentry.io)"},
	{crawler.Program, "Matomo", "Matomo/5.1.0"},
	{crawler.Program, "Drupal", "Drupal/10.3.0 (+https://www.drupal.org/) GuzzleHttp/7"},
	{crawler.Library, "node-fetch", "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)"},

	// the same names in User-Agents of people and of other crawlers
	{crawler.Person, "", "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" + engine + " Vault/2.1"},
	{crawler.Person, "", "Packer/1.0 CFNetwork/1410 Darwin/22.4"},
	{crawler.Person, "", "Mozilla/5.0 (Linux; Android 13; Nomad X1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"},
	{crawler.SelfDeclared, "", "Acme Health Check"},
	{crawler.SelfDeclared, "", "mybot/1.0 kube-probe/1.29"},
	{crawler.SelfDeclared, "", "kube-probe/1.29 AcmeSpider/2.0"},
	{crawler.SelfDeclared, "", "nginx crawler/1.0"},
	{crawler.SelfDeclared, "", "Prometheus Crawler"},
	{crawler.SelfDeclared, "", "Mozilla/5.0 (compatible; UptimeRobot/2.0; AcmeBot/1.0)"},
	{crawler.SelfDeclared, "", "acmebot-probe bot/1.0"},
	{crawler.Scraper, "HeadlessChrome", "Mozilla/5.0 (X11; Linux x86_64)" + engine + " HeadlessChrome/124.0.0.0"},
}

func TestKnownClients(t *testing.T) {
	m := crawler.Builtin().Matcher(nil)
	for _, c := range knownClients {
		var id crawler.Identity
		m.Identify(c.ua, &id)
		name := ""
		if id.Len() > 0 && id.At(0).Crawler != nil {
			name = id.At(0).Crawler.Name
		}
		if id.Class() != c.class || name != c.name || id.Len() > 1 {
			t.Errorf("%q is %v, want %v %s", c.ua, agents(&id), c.class, c.name)
		}
	}
}

// A group that names a probe does not make it a crawler.
func TestProbesThatAGroupNames(t *testing.T) {
	m := crawler.Builtin().Matcher([]string{"acme-probe", "acme", "kube-probe", "other"})
	for _, c := range []struct {
		ua    string
		class crawler.Class
		token string
	}{
		{"acme-probe/1.0", crawler.Probe, "acme-probe"},
		{"Acme-Probe", crawler.Probe, "acme-probe"},
		{"acme-probe/1.0 Go-http-client/1.1", crawler.Probe, "acme-probe"},
		{"kube-probe/1.31", crawler.Probe, "kube-probe"},
		{"other-probe/1.0", crawler.Probe, "other-probe"},
		{"acme-probe/1.0 AcmeBot/1.0", crawler.Named, "acme-probe"},
		{"client acme-probe/1.0", crawler.Named, "acme-probe"},
		{"other/1.0", crawler.Named, "other"},
	} {
		var id crawler.Identity
		m.Identify(c.ua, &id)
		if id.Len() != 1 || id.Class() != c.class || id.At(0).Token != c.token {
			t.Errorf("%q is %v, want %s of class %v", c.ua, agents(&id), c.token, c.class)
		}
	}
}

func TestRowsOfProgramsAndProbesCountPerAddress(t *testing.T) {
	rows, err := crawler.ReadRows([]byte(`{"name":"AcmeTool","class":"program"}
{"name":"AcmeWatch","class":"probe","run_by":"operator"}
{"name":"AcmeMirror","class":"program","run_by":"operator"}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := crawler.Builtin().With(rows...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ua    string
		class crawler.Class
		want  bool
	}{
		{"AcmeTool/1.0 (+https://acme.example)", crawler.Program, true},
		{"AcmeWatch/1.0 (+https://acme.example)", crawler.Probe, true},
		{"AcmeMirror/1.0 (+https://acme.example)", crawler.Program, false},
		{"Terraform/1.9.5 (+https://www.terraform.io)", crawler.Program, true},
	} {
		var id crawler.Identity
		r.Matcher(nil).Identify(c.ua, &id)
		if id.Len() != 1 || id.Class() != c.class || id.At(0).RunByAnyone() != c.want {
			t.Errorf("%q: %v, RunByAnyone %v, want %v %v", c.ua, agents(&id), id.Len() > 0 && id.At(0).RunByAnyone(), c.class, c.want)
		}
	}
}

func TestEnoughProbesHaveSources(t *testing.T) {
	n := 0
	for _, c := range builtinRows(t) {
		if c.Class == crawler.Probe && len(c.Sources["user_agents"]) > 0 {
			n++
		}
	}
	if n < 60 {
		t.Errorf("%d probes have a source for their User-Agent, want at least 60", n)
	}
}
