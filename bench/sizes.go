//go:build linux

package main

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"slices"
	"strings"
)

// sizeTable returns the share of each module in a release's binary, by the size of functions and
// data. The tables of the Go runtime are one row, because they cover all modules. Small modules
// share a row.
func (b *testbed) sizeTable() (string, error) {
	sizes, whole, err := moduleSizes(b.ways[3].prefix[0])
	if err != nil {
		return "", err
	}
	tables, rest := whole, int64(0)
	var names []string
	for name, size := range sizes {
		tables -= size
		if size < 100_000 {
			rest += size
			continue
		}
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) })
	var out strings.Builder
	line(&out, []string{"module", "MB"})
	line(&out, []string{"---", "---"})
	for _, name := range names {
		line(&out, []string{name, megabytes(sizes[name])})
	}
	line(&out, []string{"smaller ones together", megabytes(rest)})
	line(&out, []string{"strings, and tables of functions, lines and types", megabytes(tables)})
	line(&out, []string{"the file", megabytes(whole)})
	return out.String(), nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) }

// moduleSizes adds up the sizes of the symbols of each module. It counts only symbols with bytes in
// the file. The result whole is the size of the file without the symbol table, because a release
// has no symbol table.
func moduleSizes(binary string) (sizes map[string]int64, whole int64, err error) {
	built, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, 0, err
	}
	modules := []string{built.Main.Path}
	for _, m := range built.Deps {
		modules = append(modules, m.Path)
	}
	file, err := elf.Open(binary)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	symbols, err := file.Symbols()
	if err != nil {
		return nil, 0, err
	}
	for _, s := range file.Sections {
		if s.Type != elf.SHT_NOBITS && s.Name != ".symtab" && s.Name != ".strtab" {
			whole += int64(s.FileSize)
		}
	}
	sizes = map[string]int64{}
	for _, s := range symbols {
		inFile := int(s.Section) < len(file.Sections) && file.Sections[s.Section].Type != elf.SHT_NOBITS
		table := strings.HasPrefix(s.Name, "go:") || strings.HasPrefix(s.Name, "type:*") || strings.HasPrefix(s.Name, "runtime.") && s.Size > 1<<20
		if inFile && !table {
			sizes[moduleOf(s.Name, modules)] += int64(s.Size)
		}
	}
	return sizes, whole, nil
}

// moduleOf returns the module that contains the symbol, or "the standard library".
func moduleOf(symbol string, modules []string) string {
	symbol = strings.ReplaceAll(symbol, "%2e", ".") // Go writes a dot in the last part of a path as %2e
	best, length := "the standard library", 0
	for _, m := range modules {
		if rest, ok := strings.CutPrefix(symbol, m); ok && rest != "" && strings.ContainsRune("./", rune(rest[0])) && len(m) > length {
			best, length = m, len(m)
		}
	}
	return best
}
