#!/usr/bin/env bash
# Runs karmada-lens, the first argument, as a pull-request check does: exit codes, streams, files.
program=$1
. "$(dirname "$0")/../program_checks.sh"

demo=config/samples/demo
expect 2 "everything is new" "$program" plan -f $demo
contains out "3 to create, 0 to change, 0 to delete, 0 unchanged"
contains err "Namespace demo: clusters get namespaces without a policy"
expect 0 "nothing differs" "$program" plan -f $demo --base $demo
is_empty err

mkdir "$directory/new"
sed 's/replicas: 6/replicas: 12/' $demo/deployment.yaml > "$directory/new/deployment.yaml"
cp $demo/propagationpolicy.yaml "$directory/new/"
expect 2 "a branch changes something" "$program" plan -f "$directory/new" --base $demo
contains out "~ member1: change, 3 -> 6 replicas"
contains out "0 to create, 3 to change, 0 to delete, 0 unchanged"
expect 2 "for programs" "$program" plan -f "$directory/new" --base $demo -o json
contains out '"change": 3'

{ cat "$directory/new/deployment.yaml"; echo ---; cat "$directory/new/propagationpolicy.yaml"; } > "$directory/in"
expect 2 "standard input" "$program" plan -f - --clusters 1
contains err "standard input:"
contains err "there is no cluster member2"
: > "$directory/in"

lost='apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: demo}\n'
printf "$lost" > "$directory/lost.yaml"
expect 0 "a template that goes nowhere" "$program" plan -f "$directory/lost.yaml"
expect 3 "a check that forbids it" "$program" plan -f "$directory/lost.yaml" --fail-on no-such-cluster,no-policy
contains err "no policy selects it"
expect 3 "a check that forbids every warning" "$program" plan -f "$directory/lost.yaml" --fail-on warnings
expect 0 "a check that forbids another warning" "$program" plan -f "$directory/lost.yaml" --fail-on not-scheduled
expect 2 "what a plan cannot show is no mistake" "$program" plan -f $demo --fail-on warnings
expect 1 "a warning that there is not" "$program" plan -f $demo --fail-on nothing

printf 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: Bad_Name\n' > "$directory/bad.yaml"
expect 1 "an object that would be refused" "$program" plan -f "$directory/bad.yaml"
contains err "error: $directory/bad.yaml:"
is_empty out
expect 1 "a file that does not exist" "$program" plan -f "$directory/none"
expect 1 "an unknown flag" "$program" plan --what

expect 1 "definitions that are not there" "$program" plan -f $demo --crds "$directory/new/none"
contains err "no *.yaml files in"
expect 2 "definitions from elsewhere" "$program" plan -f $demo --crds config/crds
expect 2 "definitions of another release" "$program" plan -f $demo --emulated-karmada-version v1.19
expect 1 "definitions that are not of the release" "$program" plan -f $demo --crds config/crds/v1.19 --emulated-karmada-version v1.18
contains err "are those of Karmada v1.19, not of v1.18"
mkdir "$directory/bin" && cp "$program" "$directory/bin/karmada-lens"
here=$PWD
cd "$directory" || exit 1
expect 1 "a program without its definitions" bin/karmada-lens plan -f "$here/$demo"
contains err "--crds"
expect 0 "the flag that the error names" bin/karmada-lens graph -f "$here/$demo" --crds "$here/config/crds"
cd "$here" || exit 1

expect 0 "a graph" "$program" graph -f $demo
contains out "Deployment demo/nginx  -> member1 (3 replicas), member2 (2 replicas), member3 (1 replica)"
expect 0 "a picture" "$program" graph -f $demo -o svg
contains out "</svg>"
expect 1 "an object that is not there" "$program" graph -f $demo deployment/none

[[ $failures == 0 ]] && echo "all fine"
exit $((failures > 0))
