package main

// Windows and schedules name time zones, and a container image need not have
// their data.
import _ "time/tzdata"
