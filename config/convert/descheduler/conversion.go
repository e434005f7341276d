package descheduler

// conversion collects the parts of the configuration.
type conversion struct {
	doc        *document
	findings   *findings
	options    Options
	profiles   []*profileModel
	strategies []*strategy
	guards     guardSet // that all profiles have in common
	load       loadSource
	limits     []yamlEntry
	timing     timing
}

// yamlEntry is a key with its value as YAML.
type yamlEntry struct{ key, value string }

func newConversion(doc *document, o Options) *conversion {
	return &conversion{doc: doc, findings: &findings{doc: doc, sectionNotes: map[string][]Note{}}, options: o}
}

// convertPolicy converts the decoded document.
func (c *conversion) convertPolicy() {
	c.timing = c.readTiming()
	if c.doc.old != nil {
		c.readOldPolicy()
	}
	if c.doc.policy == nil {
		return
	}
	c.checkTopLevel()
	if c.doc.old == nil {
		c.readProfiles()
	}
	c.shareGuards()
	for _, p := range c.profiles {
		for _, use := range p.uses {
			c.convertPlugin(p, use)
		}
	}
	c.noteTargets()
	if len(c.doc.d.Errors()) == 0 {
		c.noteLoadSource()
	}
}
