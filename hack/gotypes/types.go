package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The API types of the public project that are not in k8s.io/api, as far as a revision key needs
// them: the order and the tags of the fields are what counts.

type leaderWorkerTemplate struct {
	LeaderTemplate                       *corev1.PodTemplateSpec                                 `json:"leaderTemplate,omitempty"`
	WorkerTemplate                       corev1.PodTemplateSpec                                  `json:"workerTemplate"`
	Size                                 *int32                                                  `json:"size,omitempty"`
	RestartPolicy                        string                                                  `json:"restartPolicy,omitempty"`
	SubGroupPolicy                       *subGroupPolicy                                         `json:"subGroupPolicy,omitempty"`
	VolumeClaimTemplates                 []corev1.PersistentVolumeClaim                          `json:"volumeClaimTemplates,omitempty"`
	PersistentVolumeClaimRetentionPolicy *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`
}

type subGroupPolicy struct {
	Type         *string `json:"subGroupPolicyType,omitempty"`
	SubGroupSize *int32  `json:"subGroupSize,omitempty"`
}

type networkConfig struct {
	SubdomainPolicy *string `json:"subdomainPolicy"`
}

type role struct {
	Name     string               `json:"name"`
	Template leaderWorkerTemplate `json:"template"`
}

// What a revision records.
type template struct {
	LeaderWorkerTemplate leaderWorkerTemplate `json:"leaderWorkerTemplate"`
	NetworkConfig        networkConfig        `json:"networkConfig"`
}

type leaderWorkerSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              leaderWorkerSetSpec `json:"spec,omitempty"`
}

type leaderWorkerSetSpec struct {
	Replicas             *int32               `json:"replicas,omitempty"`
	LeaderWorkerTemplate leaderWorkerTemplate `json:"leaderWorkerTemplate"`
	RolloutStrategy      rolloutStrategy      `json:"rolloutStrategy,omitempty"`
	StartupPolicy        string               `json:"startupPolicy,omitempty"`
	NetworkConfig        *networkConfig       `json:"networkConfig,omitempty"`
}

type rolloutStrategy struct {
	Type                       string                      `json:"type"`
	RollingUpdateConfiguration *rollingUpdateConfiguration `json:"rollingUpdateConfiguration,omitempty"`
}

type rollingUpdateConfiguration struct {
	Partition      *int32             `json:"partition,omitempty"`
	MaxUnavailable intstr.IntOrString `json:"maxUnavailable,omitempty"`
	MaxSurge       intstr.IntOrString `json:"maxSurge,omitempty"`
}
