package descheduler

// conversion collects the parts of the configuration.
type conversion struct {
	*findings
	options    Options
	profiles   []*profileModel
	strategies []*strategy
	guards     guardSet // that all profiles have in common
	load       loadSource
	limits     []entry
	timing     timing
}

// entry is a key with its value as YAML.
type entry struct{ key, value string }

func newConversion(doc *document, o Options) *conversion {
	return &conversion{findings: &findings{document: doc, sectionNotes: map[string][]Note{}}, options: o}
}

// convertPolicy converts the decoded document.
func (c *conversion) convertPolicy() {
	c.timing = c.readTiming()
	if c.old != nil {
		c.readOldPolicy()
	}
	if c.policy == nil {
		return
	}
	c.checkTopLevel()
	if c.old == nil {
		c.readProfiles()
	}
	c.shareGuards()
	for _, p := range c.profiles {
		for _, use := range p.uses {
			c.convertPlugin(p, use)
		}
	}
	c.noteTargets()
	if len(c.d.Errors()) == 0 {
		c.noteLoadSource()
	}
}
