// Labels, annotations, finalizers, taints and condition types of Karmada: no other file spells
// them. They are the same as upstream's, byte for byte, because other Karmada parts read and write
// the same objects.
#ifndef API_KEYS_H_
#define API_KEYS_H_

namespace api {

// The suffix of Karmada's own API groups, and of the names of its webhooks and keys.
inline constexpr char kGroupSuffix[] = ".karmada.io";

// Labels.
inline constexpr char kPropagationPolicyIdLabel[] = "propagationpolicy.karmada.io/permanent-id";
inline constexpr char kClusterPropagationPolicyIdLabel[] =
    "clusterpropagationpolicy.karmada.io/permanent-id";
inline constexpr char kResourceBindingIdLabel[] = "resourcebinding.karmada.io/permanent-id";
inline constexpr char kClusterResourceBindingIdLabel[] =
    "clusterresourcebinding.karmada.io/permanent-id";
inline constexpr char kWorkIdLabel[] = "work.karmada.io/permanent-id";
inline constexpr char kBindingManagedByLabel[] = "binding.karmada.io/managed-by";
inline constexpr char kManagedLabel[] = "karmada.io/managed";
inline constexpr char kManagedValue[] = "true";
inline constexpr char kSystemLabel[] = "karmada.io/system";
inline constexpr char kSystemValue[] = "true";
inline constexpr char kSkipAutoPropagationLabel[] = "namespace.karmada.io/skip-auto-propagation";
inline constexpr char kClaimedByLabel[] = "resourcetemplate.karmada.io/claimed-by";
// On a Secret whose owner permits that it is used as credentials for an OpenSearch.
inline constexpr char kOpenSearchCredentialsLabel[] = "search.karmada.io/opensearch-credentials";
inline constexpr char kRetainReplicasLabel[] = "resourcetemplate.karmada.io/retain-replicas";
inline constexpr char kRetainReplicasValue[] = "true";
inline constexpr char kDeletionProtectedLabel[] = "resourcetemplate.karmada.io/deletion-protected";
inline constexpr char kDeletionProtectedValue[] = "Always";

// On the Works of a FederatedResourceQuota.
inline constexpr char kQuotaNamespaceLabel[] = "federatedresourcequota.karmada.io/namespace";
inline constexpr char kQuotaNameLabel[] = "federatedresourcequota.karmada.io/name";

// Of Services across clusters. On a Work that carries an EndpointSlice of a provider cluster: the
// Service that the slice belongs to, and which collectors want the Work as a list
// joined with ".".
inline constexpr char kEndpointSliceNamespaceLabel[] = "endpointslice.karmada.io/namespace";
inline constexpr char kEndpointSliceNameLabel[] = "endpointslice.karmada.io/name";
inline constexpr char kEndpointSliceManagedByLabel[] = "endpointslice.karmada.io/managed-by";
inline constexpr char kManagedByServiceExport[] = "ServiceExport";
inline constexpr char kManagedByMultiClusterService[] = "MultiClusterService";
// On Works, on the Service and on the binding of a MultiClusterService; name and namespace are
// annotations, too.
inline constexpr char kMultiClusterServiceIdLabel[] = "multiclusterservice.karmada.io/permanent-id";
inline constexpr char kMultiClusterServiceNamespaceLabel[] =
    "multiclusterservice.karmada.io/namespace";
inline constexpr char kMultiClusterServiceNameLabel[] = "multiclusterservice.karmada.io/name";
// Kubernetes' own labels of EndpointSlices, and who Karmada's slices are managed by.
inline constexpr char kServiceNameLabel[] = "kubernetes.io/service-name";
inline constexpr char kSliceManagedByLabel[] = "endpointslice.kubernetes.io/managed-by";
inline constexpr char kSliceManagedByImport[] = "endpointslice-controller.karmada.io";
inline constexpr char kSliceManagedByDispatch[] = "endpointslice-dispatch-controller.karmada.io";

// DependedByHash(binding) follows; the label names a binding that needs the labelled one.
inline constexpr char kDependedByLabelPrefix[] = "resourcebinding.karmada.io/depended-by-";

// Annotations.
inline constexpr char kPropagationPolicyNamespaceAnnotation[] =
    "propagationpolicy.karmada.io/namespace";
inline constexpr char kPropagationPolicyNameAnnotation[] = "propagationpolicy.karmada.io/name";
inline constexpr char kClusterPropagationPolicyNameAnnotation[] =
    "clusterpropagationpolicy.karmada.io/name";
inline constexpr char kResourceBindingNamespaceAnnotation[] =
    "resourcebinding.karmada.io/namespace";
inline constexpr char kResourceBindingNameAnnotation[] = "resourcebinding.karmada.io/name";
inline constexpr char kClusterResourceBindingNameAnnotation[] =
    "clusterresourcebinding.karmada.io/name";
// Values of an annotation on manifests and Works; it determines whether an unmanaged object in a
// member may be taken over.
inline constexpr char kConflictOverwrite[] = "overwrite";
inline constexpr char kConflictAbort[] = "abort";
inline constexpr char kWorkNamespaceAnnotation[] = "work.karmada.io/namespace";
inline constexpr char kWorkNameAnnotation[] = "work.karmada.io/name";
inline constexpr char kConflictResolutionAnnotation[] = "work.karmada.io/conflict-resolution";
inline constexpr char kTemplateUidAnnotation[] = "resourcetemplate.karmada.io/uid";
inline constexpr char kTemplateGenerationAnnotation[] = "resourcetemplate.karmada.io/generation";
inline constexpr char kManagedLabelsAnnotation[] = "resourcetemplate.karmada.io/managed-labels";
inline constexpr char kManagedAnnotationsAnnotation[] =
    "resourcetemplate.karmada.io/managed-annotations";
// Of this program alone: whether a template is put into members by server-side apply, and what an
// object in a member was made of.
inline constexpr char kServerSideApplyAnnotation[] =
    "resourcetemplate.karmada.io/server-side-apply";
inline constexpr char kAppliedManifestAnnotation[] = "resourcetemplate.karmada.io/applied-manifest";
inline constexpr char kAppliedPlacementAnnotation[] = "policy.karmada.io/applied-placement";
inline constexpr char kAppliedOverridesAnnotation[] = "policy.karmada.io/applied-overrides";
inline constexpr char kAppliedClusterOverridesAnnotation[] =
    "policy.karmada.io/applied-cluster-overrides";

// JSON list of the dependencies of a binding's template.
inline constexpr char kDependenciesAnnotation[] = "resourcebinding.karmada.io/dependencies";
// Only this program writes it. It records the state of its template that a binding stands for.
inline constexpr char kPassedTemplateAnnotation[] = "resourcebinding.karmada.io/passed-template";

// Only this program writes it. It records on a binding which tainted clusters the workload has left
// although its placement tolerates the taints for a time (graceful_eviction/left_tainted.h).
inline constexpr char kLeftTaintedClustersAnnotation[] =
    "resourcebinding.karmada.io/left-tainted-clusters";
// Only this program writes it. It keeps on a binding the state of an application that was moved and
// was not healthy since, once the eviction task that had it has ended (api/preserved_state.h).
inline constexpr char kPreservedStateAnnotation[] = "resourcebinding.karmada.io/preserved-state";

// The cluster that an EndpointSlice comes from, on slices and Works in consumer clusters.
inline constexpr char kProvisionClusterAnnotation[] = "endpointslice.karmada.io/provision-cluster";

// Finalizers.
inline constexpr char kClusterFinalizer[] = "karmada.io/cluster-controller";
inline constexpr char kExecutionFinalizer[] = "karmada.io/execution-controller";
inline constexpr char kBindingFinalizer[] = "karmada.io/binding-controller";
inline constexpr char kClusterBindingFinalizer[] = "karmada.io/cluster-resource-binding-controller";
inline constexpr char kDependenciesFinalizer[] = "karmada.io/binding-dependencies-distributor";
inline constexpr char kPropagationPolicyFinalizer[] = "karmada.io/propagation-policy-controller";
inline constexpr char kClusterPropagationPolicyFinalizer[] =
    "karmada.io/cluster-propagation-policy-controller";
inline constexpr char kMultiClusterServiceFinalizer[] = "karmada.io/multiclusterservice-controller";
inline constexpr char kEndpointSliceFinalizer[] = "karmada.io/endpointslice-controller";
inline constexpr char kEndpointSliceDispatchFinalizer[] =
    "karmada.io/mcs-endpointslice-dispatch-controller";

// Taints.
inline constexpr char kNotReadyTaint[] = "cluster.karmada.io/not-ready";
inline constexpr char kUnreachableTaint[] = "cluster.karmada.io/unreachable";

// Namespaces.
inline constexpr char kSystemNamespace[] = "karmada-system";
inline constexpr char kClusterNamespace[] = "karmada-cluster";
inline constexpr char kExecutionNamespacePrefix[] = "karmada-es-";

// Condition types.
inline constexpr char kWorkApplied[] = "Applied";
inline constexpr char kWorkDispatching[] = "Dispatching";
inline constexpr char kBindingScheduled[] = "Scheduled";
inline constexpr char kBindingFullyApplied[] = "FullyApplied";
inline constexpr char kClusterReady[] = "Ready";
inline constexpr char kCompleteApiEnablements[] = "CompleteAPIEnablements";

}  // namespace api

#endif  // API_KEYS_H_
