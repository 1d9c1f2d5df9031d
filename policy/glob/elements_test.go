package glob_test

import (
	"slices"
	"testing"

	"github.com/clawai/clawai/policy/glob"
)

func TestElements(t *testing.T) {
	got := glob.ParseElements("é/**?*[***")
	want := []glob.Element{
		{Kind: glob.Literal, Rune: 'é'}, {Kind: glob.Literal, Rune: '/'}, {Kind: glob.Deep},
		{Kind: glob.One}, {Kind: glob.Star}, {Kind: glob.Literal, Rune: '['}, {Kind: glob.Deep},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
