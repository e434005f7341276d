package quality

// What holds today where it is not yet what is wanted: the short form fails when
// a figure gets worse than this. The long form goes by what is wanted.
const (
	medianToday = 1.10
	overToday   = 0
	beyondToday = 0
	againToday  = 0
	optimaToday = 0.05
)
