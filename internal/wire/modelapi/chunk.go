package modelapi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/clawai/clawai/internal/wire/jsonscan"
)

// checkPiece checks a Chat chunk that holds a piece of a call. It is as strict as the strictest
// client. Some clients drop a chunk if one of its members has an unexpected type, and then join the
// pieces before and after it.
func checkPiece(chunk, choice, delta *object, c *chatCall) error {
	if choice.value("index") == "" {
		return errors.New("a piece of a call comes in a choice without a number")
	}
	if c.args.Kind() == jsonscan.Object { // some clients convert the object to a text that is not JSON
		return errors.New("a piece of arguments is an object")
	}
	if c.kind == `""` {
		return errors.New("a piece of a call has an empty type")
	}
	for _, part := range []struct {
		*object
		texts []string
	}{
		{chunk, []string{"id", "model", "object"}},
		{choice, []string{"finish_reason"}},
		{delta, []string{"role", "content", "refusal", "reasoning_content", "reasoning"}},
	} {
		if err := part.checkTexts(part.texts...); err != nil {
			return err
		}
	}
	if role := delta.text("role"); role != "" && role != "assistant" {
		return fmt.Errorf("a piece of a call has the role %s", shorten(role))
	}
	if v := chunk.value("created"); v != "" && v.Kind() != jsonscan.Number {
		return fmt.Errorf("created is %s and should be a number", nounOf(v))
	}
	for _, v := range []jsonscan.Value{choice.value("logprobs"), delta.value("annotations")} {
		if v != "" && (v.Kind() < jsonscan.Array || !v.IsEmpty()) {
			return errors.New("a piece of a call comes with something else")
		}
	}
	return checkUsage(chunk)
}

// checkUsage checks that the token counts of a chunk are numbers.
func checkUsage(chunk *object) error {
	usage, err := chunk.object("usage")
	if err != nil {
		return err
	}
	for i, name := range usage.names {
		v := usage.values[i]
		switch {
		case v.Kind() == jsonscan.Null:
		case strings.HasSuffix(name, "_tokens") && v.Kind() != jsonscan.Number, strings.HasSuffix(name, "_details") && v.Kind() != jsonscan.Object:
			return fmt.Errorf("%s is %s", shorten(name), nounOf(v))
		case strings.HasSuffix(name, "_details"):
			for inner, count := range v.Members() {
				if strings.HasSuffix(inner.Text(), "_tokens") && count.Kind() != jsonscan.Number && count.Kind() != jsonscan.Null {
					return fmt.Errorf("%s is %s", shorten(inner.Text()), nounOf(count))
				}
			}
		}
	}
	return nil
}
