// Prints the table of kube/schema; see README.md. This file says what is printed, structs.go how a struct is read by
// reflection, merge.go how its fields are merged, text.go how the table is written.
package main

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	configv1alpha1 "github.com/karmada-io/karmada/pkg/apis/config/v1alpha1"
	policyv1alpha1 "github.com/karmada-io/karmada/pkg/apis/policy/v1alpha1"
	searchv1alpha1 "github.com/karmada-io/karmada/pkg/apis/search/v1alpha1"
	workv1alpha2 "github.com/karmada-io/karmada/pkg/apis/work/v1alpha2"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of the table, by group and version.
var kinds = map[string][]any{
	"v1": {corev1.ConfigMap{}, corev1.Endpoints{}, corev1.Event{}, corev1.LimitRange{}, corev1.Namespace{},
		corev1.Node{}, corev1.PersistentVolume{}, corev1.PersistentVolumeClaim{}, corev1.Pod{}, corev1.PodTemplate{},
		corev1.ReplicationController{}, corev1.ResourceQuota{}, corev1.Secret{}, corev1.Service{},
		corev1.ServiceAccount{}},
	"admissionregistration.k8s.io/v1": {admissionregistrationv1.MutatingWebhookConfiguration{},
		admissionregistrationv1.ValidatingAdmissionPolicy{},
		admissionregistrationv1.ValidatingAdmissionPolicyBinding{},
		admissionregistrationv1.ValidatingWebhookConfiguration{}},
	"apps/v1": {appsv1.ControllerRevision{}, appsv1.DaemonSet{}, appsv1.Deployment{}, appsv1.ReplicaSet{},
		appsv1.StatefulSet{}},
	"authentication.k8s.io/v1": {authenticationv1.SelfSubjectReview{}, authenticationv1.TokenReview{}},
	"authorization.k8s.io/v1": {authorizationv1.LocalSubjectAccessReview{}, authorizationv1.SelfSubjectAccessReview{},
		authorizationv1.SelfSubjectRulesReview{}, authorizationv1.SubjectAccessReview{}},
	"autoscaling/v1":         {autoscalingv1.HorizontalPodAutoscaler{}, autoscalingv1.Scale{}},
	"autoscaling/v2":         {autoscalingv2.HorizontalPodAutoscaler{}},
	"batch/v1":               {batchv1.CronJob{}, batchv1.Job{}},
	"certificates.k8s.io/v1": {certificatesv1.CertificateSigningRequest{}},
	"coordination.k8s.io/v1": {coordinationv1.Lease{}},
	"discovery.k8s.io/v1":    {discoveryv1.EndpointSlice{}},
	"events.k8s.io/v1":       {eventsv1.Event{}},
	"meta.k8s.io/v1":         {metav1.DeleteOptions{}},
	"networking.k8s.io/v1": {networkingv1.Ingress{}, networkingv1.IngressClass{}, networkingv1.NetworkPolicy{},
		networkingv1.ServiceCIDR{}},
	"node.k8s.io/v1":               {nodev1.RuntimeClass{}},
	"policy/v1":                    {policyv1.PodDisruptionBudget{}},
	"rbac.authorization.k8s.io/v1": {rbacv1.ClusterRole{}, rbacv1.ClusterRoleBinding{}, rbacv1.Role{}, rbacv1.RoleBinding{}},
	"scheduling.k8s.io/v1":         {schedulingv1.PriorityClass{}},
	"search.karmada.io/v1alpha1":   {searchv1alpha1.ResourceRegistry{}},
	"storage.k8s.io/v1": {storagev1.CSIDriver{}, storagev1.CSINode{}, storagev1.CSIStorageCapacity{},
		storagev1.StorageClass{}, storagev1.VolumeAttachment{}},
}

// Types that are no parts of these kinds; types.h has a function for each.
var parts = []any{configv1alpha1.DependentObjectReference{}, policyv1alpha1.Overriders{}, workv1alpha2.AggregatedStatusItem{}, workv1alpha2.Component{},
	workv1alpha2.ReplicaRequirements{}}

func main() {
	rules, err := readMergeSchema()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	d := describer{structs: map[string]*structure{}, rules: rules}
	var known []kind
	for apiVersion, objects := range kinds {
		for _, object := range objects {
			t := reflect.TypeOf(object)
			group, version, found := strings.Cut(apiVersion, "/")
			if !found {
				group, version = "", apiVersion
			}
			known = append(known, kind{t.Name(), group, version, d.add(t)})
		}
	}
	for _, part := range parts {
		d.add(reflect.TypeOf(part))
	}
	slices.SortFunc(known, compareKinds)
	writeTable(os.Stdout, d.sorted(), known)
}
