package approve

// proposal is the rule an "always" answer would write.
type proposal struct{}
