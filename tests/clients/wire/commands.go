package wire

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Serve reads commands from standard input, one a line, and prints the answer to each as a line of JSON, until
// standard input or the process ends.
func Serve(answer func(command string, words []string) any) {
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		if len(words) == 0 {
			continue
		}
		Must(out.Encode(answer(words[0], words[1:])))
	}
}

// Config reads a kubeconfig; requests pass through the wire, if there is one, and are not held back by a rate.
func Config(file string, wire *Wire) *rest.Config {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	Must(err)
	config.QPS = -1
	if wire != nil {
		config.Wrap(wire.RoundTripper)
	}
	return config
}

// Members reads the words NAME=KUBECONFIG of a command; a NAME alone has no configuration.
func Members(words []string) map[string]*rest.Config {
	members := map[string]*rest.Config{}
	for _, word := range words {
		name, file, found := strings.Cut(word, "=")
		members[name] = nil
		if found {
			members[name] = Config(file, nil)
		}
	}
	return members
}

// ModuleVersion returns the version of a module that this program was built with.
func ModuleVersion(path string) string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return "unknown"
}

// Must ends the program with the error, if there is one.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
