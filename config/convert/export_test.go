package convert

// RemovedKeys and MovedKeys are for the tests.
var (
	RemovedKeys = removedKeys
	MovedKeys   = movedKeys
)
