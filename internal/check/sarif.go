package check

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/clawai/clawai/policy"
)

// The parts of a SARIF 2.1.0 log (OASIS, 27 March 2020) that the report uses.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string        `json:"id"`
		ShortDescription *sarifMessage `json:"shortDescription,omitempty"`
		Help             *sarifMessage `json:"help,omitempty"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID           string          `json:"ruleId"`
		RuleIndex        int             `json:"ruleIndex"`
		Level            Severity        `json:"level"`
		Message          sarifMessage    `json:"message"`
		Locations        []sarifLocation `json:"locations"`
		RelatedLocations []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		ID               int           `json:"id,omitempty"`
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
		Message          *sarifMessage `json:"message,omitempty"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	homepage    = "https://github.com/clawai/clawai"
)

func init() { addFormat(Format{Name: "sarif", Findings: writeSARIF}) }

// writeSARIF writes the findings as a SARIF 2.1.0 log.
func writeSARIF(w io.Writer, tool Tool, findings []Finding) error {
	driver := sarifDriver{Name: tool.Name, Version: tool.Version, InformationURI: homepage, Rules: []sarifRule{}}
	index := map[string]int{}
	for _, k := range tool.Kinds {
		index[k.Code] = len(driver.Rules)
		driver.Rules = append(driver.Rules, sarifRule{k.Code, sarifMessageOf(k.Summary), sarifMessageOf(k.Why)})
	}
	results := []sarifResult{}
	for _, f := range findings {
		i, known := index[f.Code]
		if !known {
			i = len(driver.Rules)
			index[f.Code] = i
			driver.Rules = append(driver.Rules, sarifRule{ID: f.Code})
		}
		results = append(results, sarifResultOf(&f, i))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{{sarifTool{driver}, "unicodeCodePoints", results}}})
}

func sarifResultOf(f *Finding, ruleIndex int) sarifResult {
	result := sarifResult{RuleID: f.Code, RuleIndex: ruleIndex, Level: f.Severity, Message: sarifMessage{escapeInvisible(joinSentences(f))},
		Locations: []sarifLocation{sarifLocationOf(f.Pos, f.EndLine)}}
	if !slices.Contains(Severities(), f.Severity) {
		result.Level = Error
	}
	for i, related := range f.Related {
		at := sarifLocationOf(related.Pos, 0)
		at.ID, at.Message = i+1, sarifMessageOf(related.Message)
		result.RelatedLocations = append(result.RelatedLocations, at)
	}
	return result
}

// joinSentences returns all sentences of a finding as one text.
func joinSentences(f *Finding) string {
	parts := []string{cmp.Or(f.Message, f.Code)}
	if f.Call != "" {
		parts[0] += "; for example, " + f.Call
	}
	if f.Why != "" {
		parts = append(parts, f.Why)
	}
	if f.Fix != "" {
		parts = append(parts, "To fix it: "+f.Fix)
	}
	return strings.Join(parts, "\n")
}

// sarifMessageOf returns a SARIF message. It returns nil for an empty text, because the schema
// forbids empty messages.
func sarifMessageOf(text string) *sarifMessage {
	if text == "" {
		return nil
	}
	return &sarifMessage{escapeInvisible(text)}
}

func sarifLocationOf(p policy.Position, endLine int) sarifLocation {
	at := sarifLocation{PhysicalLocation: sarifPhysical{ArtifactLocation: sarifArtifact{pathURI(p.File)}}}
	if p.Line > 0 {
		at.PhysicalLocation.Region = &sarifRegion{p.Line, p.Column, endLine}
	}
	return at
}

// pathURI returns a path as a URI reference. A relative path stays relative, because the program
// that reads the report knows the root of the sources.
func pathURI(path string) string {
	u := url.URL{Path: slashPath(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
		u.Path = "/" + strings.TrimPrefix(u.Path, "/")
		return "file://" + u.EscapedPath()
	}
	return u.String()
}
