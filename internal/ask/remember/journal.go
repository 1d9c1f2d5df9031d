package remember

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/clawai/clawai/internal/state/atomicfile"
	"github.com/clawai/clawai/internal/text/term"
	"github.com/clawai/clawai/policy"
	"github.com/clawai/clawai/policy/policytext"
)

// maxEdits is the number of replaced texts that a journal keeps.
const maxEdits = 32

// edit is one replaced text in the journal. The journal is written before the policy file, so the
// newest edit may belong to a write that failed.
type edit struct {
	Time   time.Time `json:"time"`
	Policy string    `json:"policy"`
	Before []byte    `json:"before"`
	After  string    `json:"after"` // SHA-256 of the new text, in hex

	name string // path of the journal file with this edit
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keepText stores the old text of the policy (the parameter before) in the journal. It runs before
// the text is replaced. The caller holds the lock of the policy file.
func (k *Writer) keepText(before, after []byte) error {
	if k.Journal == "" {
		return nil
	}
	path, err := filepath.Abs(k.Policy)
	if err != nil {
		return err
	}
	now := k.now().UTC()
	src, err := json.Marshal(edit{Time: now, Policy: path, Before: before, After: sumOf(after)})
	if err == nil {
		err = os.MkdirAll(k.Journal, 0o700)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(k.Journal, now.Format("20060102T150405.000000000")+"-"+sumOf([]byte(path + "\x00" + sumOf(after)))[:8]+".json"), src, atomicfile.Options{Mode: 0o600})
	}
	if err != nil {
		return fmt.Errorf("the text to undo it with cannot be kept: %w", err)
	}
	k.dropEdits()
	return nil
}

// dropEdits removes the oldest edits beyond maxEdits.
func (k *Writer) dropEdits() {
	all, _ := filepath.Glob(filepath.Join(k.Journal, "*.json"))
	slices.Sort(all)
	for len(all) > maxEdits {
		_ = os.Remove(all[0])
		all = all[1:]
	}
}

// lastEdit returns the newest edit whose new text equals the argument text; nil if the journal has
// none.
func (k *Writer) lastEdit(text []byte) (*edit, error) {
	path, err := filepath.Abs(k.Policy)
	if err != nil {
		return nil, err
	}
	all, err := filepath.Glob(filepath.Join(k.Journal, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(all)
	for _, name := range slices.Backward(all) {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		e := &edit{name: name}
		if json.Unmarshal(src, e) == nil && e.Policy == path && e.After == sumOf(text) && !bytes.Equal(e.Before, text) {
			return e, nil
		}
	}
	return nil, nil
}

// PlanUndo returns a plan that restores the policy file as it was before the last rule was written.
// An answer or a command may have written this rule. The error is one line without
// control characters.
func (k *Writer) PlanUndo() (*Plan, error) {
	plan, err := k.planUndo()
	if err != nil {
		return nil, errors.New(term.VisibleText(err.Error()))
	}
	return plan, nil
}

func (k *Writer) planUndo() (*Plan, error) {
	src, err := os.ReadFile(k.Policy)
	if err != nil {
		return nil, err
	}
	if err := checkWritable(k.Policy); err != nil {
		return nil, err
	}
	e, err := k.lastEdit(src)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, fmt.Errorf("%s has not the text that clawai last wrote, so there is nothing to undo; if you have edited it since, take the rule or the folder out by hand (above such a rule stands: Written on)", k.Policy)
	}
	plan := &Plan{Time: e.Time, src: src, next: e.Before, undoes: e.name}
	if plan.New, err = policy.Parse(k.Policy, e.Before, k.Options); err != nil {
		return nil, fmt.Errorf("the text of before does not load: %w", err)
	}
	if plan.Old, err = policy.Parse(k.Policy, src, k.Options); err != nil {
		return nil, fmt.Errorf("it does not load: %w", err)
	}
	plan.Text, plan.Back = removedText(src, e.Before), removedText(e.Before, src)
	return plan, nil
}

// removedText returns those parts of src that are missing in the older text (the parameter before).
// A part is a rule, an [[extends]] table, or a key of another table with its value, such as a list
// of folders.
func removedText(src, before []byte) string {
	rules, old := blockTexts(src), blockTexts(before)
	var more []string
	for _, rule := range rules {
		if i := slices.Index(old, rule); i >= 0 {
			old = slices.Delete(old, i, i+1)
			continue
		}
		more = append(more, rule)
	}
	if len(more) == 0 {
		return ""
	}
	return strings.Join(more, "\n\n") + "\n"
}

// blockTexts returns the text of each rule, of each [[extends]], and of each pair in another table.
func blockTexts(src []byte) (all []string) {
	doc, err := policytext.ReadDocument(src)
	if err != nil {
		return nil
	}
	table, list, start := "", false, 0
	for _, st := range doc.Statements {
		switch {
		case st.Header && st.List:
			all, list, start = append(all, ""), true, st.Start
		case st.Header && !(list && st.Key[0] == "rule"):
			table, list = "["+strings.Join(st.Key, ".")+"] ", false
		}
		switch {
		case list:
			all[len(all)-1] = string(src[start:st.End])
		case !st.Header:
			all = append(all, table+string(src[st.Start:st.End]))
		}
	}
	return all
}
