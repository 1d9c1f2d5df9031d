package shell

import "strings"

// plainToAll reports whether cmd.exe and PowerShell find the same commands and words in a text as
// the shells of Unix. Three differences matter: in cmd.exe a single quote is an ordinary character,
// in PowerShell a backslash is one, and both expand texts that the other shells do not expand.
func plainToAll(text string) bool {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			continue
		case c == '%' && expandsPercent(text[i+1:]):
			return false
		}
		shut := "$`^\\!()#"
		switch quote {
		case '\'':
			shut = `|&<>^"\`
		case '"':
			shut = "$`\\"
		}
		if strings.IndexByte(shut, c) >= 0 {
			return false
		}
		if quote == 0 && c == '&' && !strings.HasPrefix(text[i+1:], "&") && !followsAmpersand(text[:i]) {
			return false
		}
	}
	return true
}

// followsAmpersand reports whether an & is the second of two, or part of 2>&1.
func followsAmpersand(before string) bool {
	return strings.HasSuffix(before, ">") || strings.HasSuffix(before, "&") && !strings.HasSuffix(before, "&&")
}

// expandsPercent reports whether cmd.exe reads the text after a % as a variable:
// %PATH%, but not %h %s.
func expandsPercent(rest string) bool {
	name, _, closed := strings.Cut(rest, "%")
	return closed && name != "" && strings.Trim(name, letters+"0123456789_():~,=.-") == ""
}
