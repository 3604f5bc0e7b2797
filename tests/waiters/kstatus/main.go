// The program kstatus prints what kstatus, by which Flux and Helm since v4 wait, makes of an object that it reads as
// JSON from standard input: a line of JSON with status and message.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	object := &unstructured.Unstructured{}
	if err := json.NewDecoder(os.Stdin).Decode(object); err != nil {
		log.Fatal(err)
	}
	result, err := status.Compute(object)
	if err != nil {
		log.Fatal(err)
	}
	verdict := map[string]string{"status": result.Status.String(), "message": result.Message}
	if err := json.NewEncoder(os.Stdout).Encode(verdict); err != nil {
		log.Fatal(err)
	}
}
