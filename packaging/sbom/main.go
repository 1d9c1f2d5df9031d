// Command sbom writes the components of a Go binary as CycloneDX JSON
// (https://cyclonedx.org/specification/overview): sbom VERSION BINARY DOCUMENT.
//
// sbom reads the linker's data in the binary, so the document describes this binary and not a go.mod.
// The exit code is 0 if sbom wrote the document, and 1 otherwise.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: sbom VERSION BINARY DOCUMENT")
	}
	if err := writeSBOM(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatalf("sbom: %v", err)
	}
}

func writeSBOM(version, binary, document string) error {
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	info.Main.Version = version // a snapshot build does not contain its version
	f, err := os.Create(document)
	if err != nil {
		return err
	}
	encoder := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := encoder.Encode(describeBinary(filepath.Base(binary), content, info)); err != nil {
		return err
	}
	return f.Close()
}

func describeBinary(name string, content []byte, info *debug.BuildInfo) *cyclonedx.BOM {
	sum := sha256.Sum256(content)
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: packageURL(info.Main), Type: cyclonedx.ComponentTypeApplication,
		Name: name, Version: info.Main.Version, PackageURL: packageURL(info.Main),
		Hashes:   &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "MIT"}}},
	}}
	components := []cyclonedx.Component{libraryOf(debug.Module{Path: "std", Version: info.GoVersion})}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		components = append(components, libraryOf(*m))
	}
	bom.Components = &components
	return bom
}

func libraryOf(m debug.Module) cyclonedx.Component {
	return cyclonedx.Component{
		BOMRef: packageURL(m), Type: cyclonedx.ComponentTypeLibrary,
		Name: m.Path, Version: m.Version, PackageURL: packageURL(m),
	}
}

// packageURL returns the package URL of a Go module (https://github.com/package-url/purl-spec).
func packageURL(m debug.Module) string { return "pkg:golang/" + m.Path + "@" + m.Version }
