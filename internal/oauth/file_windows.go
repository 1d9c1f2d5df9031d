package oauth

// exposed: mode bits say nothing here; the folder lies in the user's profile.
const exposed = false
