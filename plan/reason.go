package plan

// Code is a stable reason code that states a fact. docs/reference/reasons.md explains each code.
type Code string

// Reason is a code and a message for people.
type Reason struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Reasons for a move.
const (
	NodeOverUtilized         Code = "NodeOverUtilized"
	ZoneSkewed               Code = "ZoneSkewed"
	SpreadConstraintViolated Code = "SpreadConstraintViolated"
	TooManyDuplicates        Code = "TooManyDuplicates"
	AntiAffinityViolated     Code = "AntiAffinityViolated"
	DisplacedForMove         Code = "DisplacedForMove"
	TooManyRestarts          Code = "TooManyRestarts"
	PodExpired               Code = "PodExpired"
	PodFailed                Code = "PodFailed"
	NodeAffinityViolated     Code = "NodeAffinityViolated"
	BetterNodeExists         Code = "BetterNodeExists"
	TaintNotTolerated        Code = "TaintNotTolerated"
	NodeUnderUtilized        Code = "NodeUnderUtilized"
)

// Guards that forbid an eviction.
const (
	MirrorPod              Code = "MirrorPod"
	StaticPod              Code = "StaticPod"
	DaemonSetPod           Code = "DaemonSetPod"
	BarePod                Code = "BarePod"
	PodTerminating         Code = "PodTerminating"
	PodTerminal            Code = "PodTerminal"
	PodNotBound            Code = "PodNotBound"
	SystemCritical         Code = "SystemCritical"
	PriorityTooHigh        Code = "PriorityTooHigh"
	LocalStorage           Code = "LocalStorage"
	JobPod                 Code = "JobPod"
	PartOfGroup            Code = "PartOfGroup"
	UnknownController      Code = "UnknownController"
	OwnerNotFound          Code = "OwnerNotFound"
	TooFewReplicas         Code = "TooFewReplicas"
	PodTooYoung            Code = "PodTooYoung"
	NamespaceExcluded      Code = "NamespaceExcluded"
	NodeOutOfScope         Code = "NodeOutOfScope"
	VirtualNode            Code = "VirtualNode"
	OwnPod                 Code = "OwnPod"
	PodNotSelected         Code = "PodNotSelected"
	PersistentVolume       Code = "PersistentVolume"
	ProtectedStorageClass  Code = "ProtectedStorageClass"
	NoPodDisruptionBudget  Code = "NoPodDisruptionBudget"
	ResourceClaims         Code = "ResourceClaims"
	GracePeriodTooLong     Code = "GracePeriodTooLong"
	NodeNotReady           Code = "NodeNotReady"
	NodeBeingDisrupted     Code = "NodeBeingDisrupted"
	NodeBeingDrained       Code = "NodeBeingDrained"
	BlockedByPod           Code = "BlockedByPod"
	NodeExcluded           Code = "NodeExcluded"
	EvictionInProgress     Code = "EvictionInProgress"
	WorkloadPaused         Code = "WorkloadPaused"
	RolloutInProgress      Code = "RolloutInProgress"
	ScalingDown            Code = "ScalingDown"
	NoReplacement          Code = "NoReplacement"
	ReplacementRefused     Code = "ReplacementRefused"
	ReplacementMissing     Code = "ReplacementMissing"
	ForeignFinalizer       Code = "ForeignFinalizer"
	RevisionWouldChange    Code = "RevisionWouldChange"
	JobWouldFail           Code = "JobWouldFail"
	WorkloadDegraded       Code = "WorkloadDegraded"
	LastReadyPod           Code = "LastReadyPod"
	RequiredByAffinity     Code = "RequiredByAffinity"
	SchedulerNotResponding Code = "SchedulerNotResponding"
)

// Annotations and windows that forbid an eviction.
const (
	EvictNever        Code = "EvictNever"
	DoNotDisrupt      Code = "DoNotDisrupt"
	PreferNoEviction  Code = "PreferNoEviction"
	RequestUnreadable Code = "RequestUnreadable"
	OutsideWindow     Code = "OutsideWindow"
)

// Reasons why an eviction would not help.
const (
	NotNeeded              Code = "NotNeeded"
	LastLocalEndpoint      Code = "LastLocalEndpoint"
	WaitsForSamples        Code = "WaitsForSamples"
	TooFewUnderUtilized    Code = "TooFewUnderUtilized"
	SignalTooLow           Code = "SignalTooLow"
	BenefitTooSmall        Code = "BenefitTooSmall"
	UsageUnknown           Code = "UsageUnknown"
	PlacementUnknown       Code = "PlacementUnknown"
	NoTargetFits           Code = "NoTargetFits"
	NodesUnderPressure     Code = "NodesUnderPressure"
	OnlyVirtualNodes       Code = "OnlyVirtualNodes"
	OnlyCordonedNodes      Code = "OnlyCordonedNodes"
	VolumeInUse            Code = "VolumeInUse"
	OnlyLeavingNodes       Code = "OnlyLeavingNodes"
	OnlyUnhealthyNodes     Code = "OnlyUnhealthyNodes"
	OnlyRefusingNodes      Code = "OnlyRefusingNodes"
	OnlyUnprovenPlatforms  Code = "OnlyUnprovenPlatforms"
	WouldReturn            Code = "WouldReturn"
	UncertainLanding       Code = "UncertainLanding"
	WaitsForNextPass       Code = "WaitsForNextPass"
	PredictionLimitReached Code = "PredictionLimitReached"
	PlanTimeReached        Code = "PlanTimeReached"
	AlreadyPlanned         Code = "AlreadyPlanned"
	NodeNotEmptied         Code = "NodeNotEmptied"
	Discarded              Code = "Discarded"
)

// Causes why a pass could judge nothing. NothingJudgedCodes lists all of them.
const (
	NoStrategy             Code = "NoStrategy"
	NothingInScope         Code = "NothingInScope"
	UntrustedServerVersion Code = "UntrustedServerVersion"
	UntrustedScheduler     Code = "UntrustedScheduler"
	NoUsageData            Code = "NoUsageData"
)

// Reasons why a pod stays Pending, or may stay Pending, after an imagined change of the nodes.
const (
	DoesNotFit Code = "DoesNotFit"
	MayNotFit  Code = "MayNotFit"
)

// Reasons why a plan leaves a violation of another program's policy.
const (
	NoStrategyForThis Code = "NoStrategyForThis"
	AllowedByStrategy Code = "AllowedByStrategy"
	StrategyNotDue    Code = "StrategyNotDue"
	GoalNotMet        Code = "GoalNotMet"
)

// Budgets, limits and runtime conditions that forbid an eviction, and outcomes.
const (
	BlockedByPDB            Code = "BlockedByPDB"
	MultiplePDBs            Code = "MultiplePDBs"
	PDBNotObserved          Code = "PDBNotObserved"
	WorkloadUnavailable     Code = "WorkloadUnavailable"
	LimitPerPass            Code = "LimitPerPass"
	LimitPerNode            Code = "LimitPerNode"
	LimitPerNamespace       Code = "LimitPerNamespace"
	LimitPerOwner           Code = "LimitPerOwner"
	LimitPerZone            Code = "LimitPerZone"
	LimitPerHour            Code = "LimitPerHour"
	LimitMaxNodes           Code = "LimitMaxNodes"
	BackedOff               Code = "BackedOff"
	PermissionMissing       Code = "PermissionMissing"
	BlockedByAdmission      Code = "BlockedByAdmission"
	EvictionInBackground    Code = "EvictionInBackground"
	PremiseChanged          Code = "PremiseChanged"
	PodGoneAlready          Code = "PodGone"
	UIDChanged              Code = "UIDChanged"
	HintNotWritten          Code = "HintNotWritten"
	APIThrottled            Code = "APIThrottled"
	APIError                Code = "APIError"
	ClusterViewStale        Code = "ClusterViewStale"
	OutcomeUnknown          Code = "OutcomeUnknown"
	LandedElsewhere         Code = "LandedElsewhere"
	ReplacementNotReady     Code = "ReplacementNotReady"
	ReplacementNotScheduled Code = "ReplacementNotScheduled"
	Interrupted             Code = "Interrupted"
	PassTimeout             Code = "PassTimeout"
	StateUnavailable        Code = "StateUnavailable"
	NotLeading              Code = "NotLeading"
	OtherReleaseActive      Code = "OtherReleaseActive"
	PlanRefused             Code = "PlanRefused"
	ProposalTooLarge        Code = "ProposalTooLarge"
	Paused                  Code = "Paused"
	BreakerOpen             Code = "BreakerOpen"
	AlertFiring             Code = "AlertFiring"
	AlertsUnknown           Code = "AlertsUnknown"
)
