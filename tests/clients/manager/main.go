// The program manager runs a manager of controller-runtime on one API server. Its one controller copies
// `data.color` of every ConfigMap that a selector selects into two annotations: into one by an update, into the
// other by a patch with the version that it has read. It deletes ConfigMaps of the colour "gone", if they are
// still the ones that it has read.
//
//	manager -kubeconfig FILE -selector LABELS [-namespace NS]
//
// It reads commands from standard input and answers each with one line of JSON:
//
//	sync                     waits until the manager's cache has synced
//	check NAME=KUBECONFIG... waits until that is done in all these members
package main

import (
	"context"
	"flag"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"testclients/wire"
)

const updated, patched = "clients.test/updated", "clients.test/patched"

// Answer is what is printed for a command.
type Answer struct {
	Command           string         `json:"command"`
	OK                bool           `json:"ok"`
	Differences       []string       `json:"differences,omitempty"`
	ControllerRuntime string         `json:"controllerRuntime"`
	ClientGo          string         `json:"clientGo"`
	Requests          map[string]int `json:"requests"`
	Outcomes          map[string]int `json:"outcomes"`
}

func main() {
	flags := flag.NewFlagSet("manager", flag.ExitOnError) // Apart from those that controller-runtime defines.
	kubeconfig := flags.String("kubeconfig", "", "the server that the manager is on")
	selector := flags.String("selector", "", "which ConfigMaps it looks after")
	namespace := flags.String("namespace", "default", "where they are")
	patience := flags.Duration("patience", 30*time.Second, "how long sync and check wait")
	wire.Must(flags.Parse(os.Args[1:]))
	log.SetLogger(zap.New())

	selected, err := labels.Parse(*selector)
	wire.Must(err)
	w := &wire.Wire{}
	manager, err := ctrl.NewManager(wire.Config(*kubeconfig, w), ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {
			Label: selected, Namespaces: map[string]cache.Config{*namespace: {}}}}},
	})
	wire.Must(err)
	painter := &painter{client: manager.GetClient(), outcomes: map[string]int{}}
	wire.Must(ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(painter))
	go func() { wire.Must(manager.Start(context.Background())) }()

	wire.Serve(func(command string, words []string) any {
		answer := Answer{
			Command: command, OK: true, ClientGo: wire.ModuleVersion("k8s.io/client-go"),
			ControllerRuntime: wire.ModuleVersion("sigs.k8s.io/controller-runtime"),
		}
		switch command {
		case "sync":
			patient, cancel := context.WithTimeout(context.Background(), *patience)
			defer cancel()
			answer.OK = manager.GetCache().WaitForCacheSync(patient)
		case "check":
			members := wire.Members(words)
			for end := time.Now().Add(*patience); ; time.Sleep(50 * time.Millisecond) {
				answer.Differences = unpainted(members, *namespace, *selector)
				if len(answer.Differences) == 0 || time.Now().After(end) {
					break
				}
			}
			answer.OK = len(answer.Differences) == 0
		}
		answer.Requests, answer.Outcomes = w.Counts(), painter.Outcomes()
		return answer
	})
}

// painter is the controller. It counts what comes of its writes.
type painter struct {
	client   client.Client
	mutex    sync.Mutex
	outcomes map[string]int
}

func (p *painter) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var object corev1.ConfigMap
	if err := p.client.Get(ctx, request.NamespacedName, &object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	color := object.Data["color"]
	var err error
	switch {
	case color == "gone":
		uid, version := object.GetUID(), object.GetResourceVersion()
		err = p.count("delete", client.IgnoreNotFound(p.client.Delete(
			ctx, &object, client.Preconditions{UID: &uid, ResourceVersion: &version})))
	case object.Annotations[updated] != color:
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, updated, color)
		err = p.count("update", p.client.Update(ctx, &object))
	case object.Annotations[patched] != color:
		patch := client.MergeFromWithOptions(object.DeepCopy(), client.MergeFromWithOptimisticLock{})
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, patched, color)
		err = p.count("patch", p.client.Patch(ctx, &object, patch))
	}
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: 100 * time.Millisecond}, nil
	}
	return ctrl.Result{}, err
}

func (p *painter) count(what string, err error) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err != nil {
		what += " " + string(apierrors.ReasonForError(err))
	}
	p.outcomes[what]++
	return err
}

// Outcomes returns how often each kind of write came to which end: "update", "update Conflict".
func (p *painter) Outcomes() map[string]int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	outcomes := map[string]int{}
	for outcome, count := range p.outcomes {
		outcomes[outcome] = count
	}
	return outcomes
}

// unpainted says what the controller has still to do in the members.
func unpainted(members map[string]*rest.Config, namespace, selector string) []string {
	var found []string
	for cluster, config := range members {
		list, err := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(namespace).List(
			context.Background(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return []string{cluster + ": " + err.Error()}
		}
		for _, item := range list.Items {
			color := item.Data["color"]
			if color == "gone" || item.Annotations[updated] != color || item.Annotations[patched] != color {
				found = append(found, cluster+" "+item.Name+" is "+color)
			}
		}
	}
	return found
}
