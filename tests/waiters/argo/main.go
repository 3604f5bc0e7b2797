// The program argo prints what Argo CD makes of an object that it reads as JSON from standard input: a line of JSON
// with status and message of its health, both empty for a kind that has none.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	object := &unstructured.Unstructured{}
	if err := json.NewDecoder(os.Stdin).Decode(object); err != nil {
		log.Fatal(err)
	}
	result, err := health.GetResourceHealth(object, nil)
	if err != nil {
		log.Fatal(err)
	}
	verdict := map[string]string{"status": "", "message": ""}
	if result != nil {
		verdict["status"], verdict["message"] = string(result.Status), result.Message
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdict); err != nil {
		log.Fatal(err)
	}
}
