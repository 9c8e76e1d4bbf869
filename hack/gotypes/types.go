package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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
