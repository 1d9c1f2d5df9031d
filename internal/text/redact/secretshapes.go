package redact

// shape describes a form of secret. The first characters of the secret, or a word inside it, show
// the form.
type shape struct {
	start string
	kind  string // one word for the kind of secret
	min   int    // minimum number of characters after the first ones
	max   int    // maximum number of these characters; 0: no limit
	of    class  // the class of these characters; 0: letters and digits
	has   string // text that must be among these characters; "" for none
	// digit means that one of these characters must be a digit, because ordinary words begin like
	// this too.
	digit bool
	// before is the number of letters and digits that must be before the first characters, followed
	// by one dot.
	before int
}

// shapes are forms that nothing else has. Earlier rows are tried first. The facts come from the
// vendors' documentation and from the public rules of gitleaks (MIT) and noseyparker (Apache-2.0),
// read in November 2026. If the first characters are proof enough, the minimum length is lower than
// in these sources, so that a key whose end is missing is found too.
var shapes = [...]shape{
	// Code and packages.
	{start: "github_pat_", kind: "github", min: 20, of: alnum | under}, {start: "ghs_", kind: "github", min: 20, of: wordish | dot},
	{start: "ghp_", kind: "github", min: 20}, {start: "gho_", kind: "github", min: 20}, {start: "ghu_", kind: "github", min: 20}, {start: "ghr_", kind: "github", min: 20},
	{start: "glpat-", kind: "gitlab", min: 16, of: wordish | dot}, {start: "glrt-", kind: "gitlab", min: 16, of: wordish | dot},
	{start: "glptt-", kind: "gitlab", min: 16, of: wordish}, {start: "gldt-", kind: "gitlab", min: 16, of: wordish},
	{start: "glcbt-", kind: "gitlab", min: 16, of: wordish}, {start: "glffct-", kind: "gitlab", min: 16, of: wordish},
	{start: "glft-", kind: "gitlab", min: 16, of: wordish}, {start: "glimt-", kind: "gitlab", min: 16, of: wordish},
	{start: "glagent-", kind: "gitlab", min: 30, of: wordish}, {start: "gloas-", kind: "gitlab", min: 30, of: wordish},
	{start: "glsoat-", kind: "gitlab", min: 16, of: wordish}, {start: "GR1348941", kind: "gitlab", min: 16, of: wordish},
	{start: "_gitlab_session=", kind: "gitlab", min: 32, of: alnum},
	{start: "ATATT3", kind: "atlassian", min: 30, of: wordish | equals}, {start: "ATCTT3", kind: "atlassian", min: 30, of: wordish | equals},
	{start: "ATBB", kind: "bitbucket", min: 28, digit: true}, {start: "BBDC-", kind: "bitbucket", min: 40, of: alnum | slashes},
	{start: "npm_", kind: "npm", min: 30}, {start: "pypi-", kind: "pypi", min: 30, of: wordish},
	{start: "rubygems_", kind: "rubygems", min: 30}, {start: "CLOJARS_", kind: "clojars", min: 40}, {start: "clojars_", kind: "clojars", min: 40},
	{start: "dckr_pat_", kind: "docker", min: 16, of: wordish}, {start: "dckr_oat_", kind: "docker", min: 16, of: wordish},
	{start: "AKCp", kind: "artifactory", min: 60}, {start: "cmVmd", kind: "artifactory", min: 59, max: 59, digit: true},
	{start: "sgp_", kind: "sourcegraph", min: 40, of: alnum | under, digit: true}, {start: "bkua_", kind: "buildkite", min: 30}, {start: "CCIPAT_", kind: "circleci", min: 30, of: alnum | under},
	{start: "squ_", kind: "sonar", min: 40, of: hexes}, {start: "sqp_", kind: "sonar", min: 40, of: hexes}, {start: "sqa_", kind: "sonar", min: 40, of: hexes},

	// Keys of a clawai centre, for laptops, machines and command lines of people.
	{start: "clw_", kind: "clawai", min: 30, of: wordish, digit: true}, {start: "clp_", kind: "clawai", min: 30, of: wordish, digit: true},

	// AI models.
	{start: "sk-ant-", kind: "anthropic", min: 16, of: wordish}, {start: "sk-", kind: "sk", min: 16, of: wordish, digit: true},
	{start: "hf_", kind: "huggingface", min: 20}, {start: "api_org_", kind: "huggingface", min: 30}, {start: "gsk_", kind: "groq", min: 20},
	{start: "xai-", kind: "xai", min: 20}, {start: "r8_", kind: "replicate", min: 20}, {start: "pplx-", kind: "perplexity", min: 20},
	{start: "tvly-", kind: "tavily", min: 16, of: alnum | dash}, {start: "pcsk_", kind: "pinecone", min: 40, of: alnum | under},
	{start: "lsv2_pt_", kind: "langsmith", min: 30, of: alnum | under}, {start: "lsv2_sk_", kind: "langsmith", min: 30, of: alnum | under}, {start: "tgp_v1_", kind: "together", min: 30, of: wordish},

	// Clouds and hosting.
	{start: "AKIA", kind: "aws", min: 16}, {start: "ASIA", kind: "aws", min: 16, digit: true}, {start: "ABIA", kind: "aws", min: 16, max: 16, of: upper, digit: true},
	{start: "ACCA", kind: "aws", min: 16, max: 16, of: upper, digit: true}, {start: "A3T", kind: "aws", min: 17, max: 17, of: upper},
	{start: "ABSK", kind: "aws", min: 100, of: alnum | slashes | equals}, {start: "bedrock-api-key-", kind: "aws", min: 20, of: wordish | slashes | equals},
	{start: "AIza", kind: "google", min: 30, of: wordish}, {start: "ya29.", kind: "google", min: 16, of: wordish | dot}, {start: "GOCSPX-", kind: "google", min: 16, of: wordish},
	{start: "LTAI", kind: "alibaba", min: 16, max: 24, digit: true}, {start: "AQVN", kind: "yandex", min: 34, of: wordish, digit: true},
	{start: "v1.0-", kind: "cloudflare", min: 160, of: hexes | dash}, {start: "doo_v1_", kind: "digitalocean", min: 20}, {start: "dop_v1_", kind: "digitalocean", min: 20}, {start: "dor_v1_", kind: "digitalocean", min: 20},
	{start: "fo1_", kind: "fly", min: 40, of: wordish}, {start: "fm1a_", kind: "fly", min: 60, of: alnum | slashes | equals}, {start: "fm1r_", kind: "fly", min: 60, of: alnum | slashes | equals}, {start: "fm2_", kind: "fly", min: 60, of: alnum | slashes | equals},
	{start: "HRKU-AA", kind: "heroku", min: 40, of: wordish}, {start: "nfp_", kind: "netlify", min: 36}, {start: "rnd_", kind: "render", min: 28, digit: true}, {start: "tk-us-", kind: "scalingo", min: 48, of: wordish},
	{start: "sbp_", kind: "supabase", min: 20}, {start: "sb_secret_", kind: "supabase", min: 20, of: wordish}, {start: "napi_", kind: "neon", min: 40, digit: true},
	{start: "pscale_", kind: "planetscale", min: 32, of: wordish | dot | equals}, {start: "dapi", kind: "databricks", min: 32, of: hexes | dash}, {start: "4b1d", kind: "clickhouse", min: 38, max: 38},
	{start: "sha256~", kind: "openshift", min: 43, of: wordish}, {start: "tskey-", kind: "tailscale", min: 16, of: alnum | dash},
	{start: "ops_eyJ", kind: "1password", min: 60, of: alnum | slashes | equals}, {start: "A3-", kind: "1password", min: 30, max: 37, of: upper | dash, digit: true},
	{start: "hvs.", kind: "vault", min: 16, of: wordish}, {start: "hvb.", kind: "vault", min: 60, of: wordish}, {start: "hvr.", kind: "vault", min: 16, of: wordish},
	{start: "atlasv1.", kind: "terraform", min: 40, of: wordish | equals, before: 14}, {start: "pul-", kind: "pulumi", min: 40, of: hexes},
	{start: "dp.", kind: "doppler", min: 43, of: wordish | dot, digit: true}, {start: "dt0c01.", kind: "dynatrace", min: 60, of: alnum | dot}, {start: "dt0s", kind: "dynatrace", min: 60, of: alnum | dot},
	{start: "API-", kind: "octopus", min: 26, max: 26, of: upper, digit: true}, {start: "pat.", kind: "harness", min: 66, of: wordish | dot, digit: true}, {start: "sat.", kind: "harness", min: 66, of: wordish | dot, digit: true},
	{start: "pnu_", kind: "prefect", min: 36}, {start: "pnb_", kind: "prefect", min: 36}, {start: "ico-", kind: "infracost", min: 32, max: 32, digit: true},
	{start: "glsa_", kind: "grafana", min: 20, of: alnum | under}, {start: "glc_", kind: "grafana", min: 32, of: alnum | slashes | equals}, {start: "eyJrIjoi", kind: "grafana", min: 60, of: alnum | slashes | equals},
	{start: "sntrys_eyJ", kind: "sentry", min: 40, of: wordish | slashes | equals}, {start: "sntryu_", kind: "sentry", min: 40, of: hexes}, {start: "phx_", kind: "posthog", min: 36, of: wordish},
	{start: "NRAK-", kind: "newrelic", min: 24}, {start: "NRII-", kind: "newrelic", min: 24, of: wordish}, {start: "NRJS-", kind: "newrelic", min: 19, of: hexes}, {start: "rootly_", kind: "rootly", min: 40, of: hexes},
	{start: "sm_aat_", kind: "settlemint", min: 16}, {start: "sm_pat_", kind: "settlemint", min: 16}, {start: "sm_sat_", kind: "settlemint", min: 16},
	{start: "sc_", kind: "authress", min: 40, of: wordish | dot | slashes | equals, has: ".acc"}, {start: "ext_", kind: "authress", min: 40, of: wordish | dot | slashes | equals, has: ".acc"},
	{start: "scauth_", kind: "authress", min: 40, of: wordish | dot | slashes | equals, has: ".acc"}, {start: "authress_", kind: "authress", min: 40, of: wordish | dot | slashes | equals, has: ".acc"},

	// Work and messaging.
	{start: "xoxb-", kind: "slack", min: 10, of: alnum | dash}, {start: "xoxp-", kind: "slack", min: 10, of: alnum | dash}, {start: "xoxa-", kind: "slack", min: 10, of: alnum | dash},
	{start: "xoxr-", kind: "slack", min: 10, of: alnum | dash}, {start: "xoxs-", kind: "slack", min: 10, of: alnum | dash}, {start: "xoxo-", kind: "slack", min: 10, of: alnum | dash, digit: true},
	{start: "xoxc-", kind: "slack", min: 10, of: alnum | dash}, {start: "xoxd-", kind: "slack", min: 10, of: alnum | dash | percent | slashes | equals},
	{start: "xoxe-", kind: "slack", min: 10, of: alnum | dash}, {start: "xoxe.", kind: "slack", min: 10, of: alnum | dash | dot}, {start: "xapp-", kind: "slack", min: 10, of: alnum | dash},
	{start: "hooks.slack.com/", kind: "webhook", min: 40, of: alnum | slashes}, {start: "discord.com/api/webhooks/", kind: "webhook", min: 40, of: wordish | slashes},
	{start: "discordapp.com/api/webhooks/", kind: "webhook", min: 40, of: wordish | slashes}, {start: "webhook.office.com/", kind: "webhook", min: 60, of: wordish | slashes | at},
	{start: "mfa.", kind: "discord", min: 60, of: wordish}, {start: "lin_api_", kind: "linear", min: 20}, {start: "lin_oauth_", kind: "linear", min: 20},
	{start: "ntn_", kind: "notion", min: 20}, {start: "secret_", kind: "notion", min: 43, digit: true}, {start: "figd_", kind: "figma", min: 20, of: wordish},
	{start: "PMAK-", kind: "postman", min: 20, of: alnum | dash}, {start: "SG.", kind: "sendgrid", min: 20, of: wordish | dot | equals}, {start: "SK", kind: "twilio", min: 32, max: 32, of: hexes},
	{start: "xkeysib-", kind: "brevo", min: 60, of: alnum | dash}, {start: "xsmtpsib-", kind: "brevo", min: 60, of: alnum | dash}, {start: "key-", kind: "mailgun", min: 32, max: 32, of: hexes},
	{start: "pat-na1-", kind: "hubspot", min: 36, of: hexes | dash}, {start: "pat-eu1-", kind: "hubspot", min: 36, of: hexes | dash}, {start: "pat", kind: "airtable", min: 79, max: 79, of: alnum | dot, has: ".", digit: true},
	{start: "CFPAT-", kind: "contentful", min: 40, of: wordish}, {start: "tfp_", kind: "typeform", min: 40, of: wordish | dot}, {start: "fio-u-", kind: "frameio", min: 60, of: wordish | equals}, {start: "rdme_", kind: "readme", min: 60},
	{start: "p8e-", kind: "adobe", min: 32, max: 32}, {start: "s-s4t2", kind: "intra42", min: 60, of: alnum | dash}, {start: "sl.", kind: "dropbox", min: 130, of: wordish},

	// Payment and trade.
	{start: "sk_live_", kind: "stripe", min: 10}, {start: "sk_test_", kind: "stripe", min: 10}, {start: "sk_prod_", kind: "stripe", min: 10},
	{start: "rk_live_", kind: "stripe", min: 10}, {start: "rk_test_", kind: "stripe", min: 10}, {start: "rk_prod_", kind: "stripe", min: 10},
	{start: "whsec_", kind: "stripe", min: 16, of: alnum | slashes | equals}, {start: "rzp_live_", kind: "razorpay", min: 14}, {start: "rzp_test_", kind: "razorpay", min: 14},
	{start: "sq0atp-", kind: "square", min: 22, of: wordish}, {start: "sq0csp-", kind: "square", min: 40, of: wordish}, {start: "EAAA", kind: "square", min: 22, of: wordish, digit: true},
	{start: "EAA", kind: "facebook", min: 80}, {start: "FLWSECK", kind: "flutterwave", min: 12, of: alnum | under | dash, digit: true}, {start: "FLWPUBK_TEST-", kind: "flutterwave", min: 32, of: wordish},
	{start: "access-production-", kind: "plaid", min: 36, of: hexes | dash}, {start: "access-sandbox-", kind: "plaid", min: 36, of: hexes | dash},
	{start: "shpat_", kind: "shopify", min: 20}, {start: "shpca_", kind: "shopify", min: 20}, {start: "shppa_", kind: "shopify", min: 20}, {start: "shpss_", kind: "shopify", min: 20},
	{start: "shippo_live_", kind: "shippo", min: 40, of: hexes}, {start: "shippo_test_", kind: "shippo", min: 40, of: hexes}, {start: "EZAK", kind: "easypost", min: 54, max: 54}, {start: "EZTK", kind: "easypost", min: 54, max: 54},
	{start: "duffel_live_", kind: "duffel", min: 40, of: wordish | equals}, {start: "duffel_test_", kind: "duffel", min: 40, of: wordish | equals},

	// Forms that do not begin with the prefix of a vendor.
	{start: "AccountKey=", kind: "azure", min: 40, of: alnum | slashes | equals}, {start: "SharedAccessKey=", kind: "azure", min: 40, of: alnum | slashes | equals},
	{start: "AccountKey%3", kind: "azure", min: 40, of: alnum | slashes | equals | percent}, {start: "SharedAccessKey%3", kind: "azure", min: 40, of: alnum | slashes | equals | percent},
	{start: "xprv", kind: "wallet", min: 100, digit: true}, {start: "yprv", kind: "wallet", min: 100, digit: true}, {start: "zprv", kind: "wallet", min: 100, digit: true}, {start: "tprv", kind: "wallet", min: 100, digit: true},
	{start: "AGE-SECRET-KEY-1", kind: "age", min: 20}, {start: "ZXlK", kind: "jwt", min: 60, of: alnum | slashes | equals, digit: true},
}

// class is a set of characters.
type class uint16

const (
	lowerHex class = 1 << iota
	upperHex
	lowerRest
	upperRest
	decimal
	under
	dash
	dot
	equals
	slashes // the signs + and /
	percent
	at
	tilde

	hexes   = lowerHex | upperHex | decimal
	upper   = upperHex | upperRest | decimal
	alnum   = hexes | lowerRest | upperRest
	wordish = alnum | under | dash
)

// classes holds the classes of each byte.
var classes = func() (t [256]class) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = decimal
		case c >= 'a' && c <= 'f':
			t[c] = lowerHex
		case c >= 'A' && c <= 'F':
			t[c] = upperHex
		case c >= 'a' && c <= 'z':
			t[c] = lowerRest
		case c >= 'A' && c <= 'Z':
			t[c] = upperRest
		}
	}
	t['_'], t['-'], t['.'], t['='], t['%'], t['@'], t['~'] = under, dash, dot, equals, percent, at, tilde
	t['+'], t['/'] = slashes, slashes
	return t
}()
