package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ContentID is a hash of all of a plan but its ID, 16 hex digits: the same plan
// has the same ID wherever it was made.
func ContentID(p Plan) string {
	p.ID = ""
	b, err := json.Marshal(p)
	if err != nil {
		panic("plan: marshalling a plan: " + err.Error()) // only data types inside
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
