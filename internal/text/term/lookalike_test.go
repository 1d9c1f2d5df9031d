package term

import "testing"

func TestLookalike(t *testing.T) {
	for _, s := range []string{"p\u0430ypal", "\u0441\u043e\u0440\u0443", "see /\u0440\u0430\u0441/x", "\uff52\uff4d", "\U0001d5cb", "a\u2215b", "a\u01c3", "\uff0f"} {
		if !HasLookalike(s) {
			t.Errorf("%+q is taken for what it is", s)
		}
	}
	for _, s := range []string{"", "plain text, 1 + 2", "Größe naïve", "привет мир", "Καλημέρα", "你好，世界！", "ファイルを読むAPI",
		"안녕", "नमस्ते", "wait… ½ “quoted” – 5 €", "😀", "\xff", "שלום"} {
		if HasLookalike(s) {
			t.Errorf("%+q looks like nothing else", s)
		}
	}
}
