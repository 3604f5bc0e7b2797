#!/usr/bin/env bash
# Runs the program given as the first argument: exit codes, streams, pipes.
program=$1
. "$(dirname "$0")/../program_checks.sh"

rules=$directory/widget.yaml
cases=$directory/widget-test.yaml
expect 0 "version" "$program" --version
expect 0 "init" "$program" init Widget --api-version example.io/v1 --dir "$directory"
expect 2 "init over files" "$program" init Widget --api-version example.io/v1 --dir "$directory"
expect 0 "check of a good file" "$program" check "$rules"
expect 0 "passing cases" "$program" test "$cases" --customization "$rules"
contains out "7 cases: 7 passed, 0 failed"
expect 1 "cases without their customization" "$program" test "$cases"
sed 's/^function\|  function /&broken = /' "$rules" > "$directory/bad.yaml"
expect 1 "check of a bad file" "$program" check "$directory/bad.yaml"
contains out "error: spec.customizations."
expect 2 "a file that does not exist" "$program" check "$directory/none.yaml"
contains err "error: "
is_empty out
expect 2 "an unknown flag" "$program" list --what
expect 2 "no sub-command" "$program"
expect 0 "list" "$program" list Deployment
contains out "apps/v1"

printf 'apiVersion: v1\nkind: Service\nmetadata: {name: s}\n' > "$directory/in"
expect 0 "an object on standard input" "$program" run --operation InterpretHealth --observed -
contains out "true"
is_empty err
expect 1 "no rule" "$program" run --operation InterpretReplica --desired -
is_empty out
expect 2 "no server" "$program" run --operation InterpretHealth --observed pod/x \
  --kubeconfig "$directory/none"

expect 2 "a full disk" bash -c '"$0" list > /dev/full' "$program"
contains err "error: standard output could not be written"

# A webhook that never answers is slow, too, and a control plane logs that; this program tells its own way.
cat > "$directory/hooks.py" << 'END'
import socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
held = []
while True:
    held.append(listener.accept())
END
coproc HOOK { exec /usr/bin/python3 "$directory/hooks.py"; }
hook_pid=$HOOK_PID
read -r -t 10 port <&"${HOOK[0]}"
cat > "$directory/hooks.yaml" << END
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: slow.example.com
  rules: [{operations: [InterpretHealth], apiGroups: [""], apiVersions: [v1], kinds: [Service]}]
  clientConfig: {url: "https://127.0.0.1:$port"}
  interpreterContextVersions: [v1alpha1]
  timeoutSeconds: 1
END
expect 1 "a hook that does not answer" "$program" run --operation InterpretHealth --observed - \
  --webhook "$directory/hooks.yaml"
contains err "error: "
[[ $(wc -l < "$directory/err") == 1 ]] ||
  { echo "FAIL: more than the error:"; cat "$directory/err"; failures=$((failures + 1)); }
expect 1 "its log on request" "$program" run --operation InterpretHealth --observed - \
  --webhook "$directory/hooks.yaml" -v 0
contains err "slow call of an interpreter webhook"
kill "$hook_pid"

# Colours are for terminals; script(1) makes one.
expect 0 "a pipe" "$program" check "$rules"
! grep -q $'\033' "$directory/out" || { echo "FAIL: colours in a pipe"; failures=$((failures + 1)); }
if command -v script > /dev/null; then
  expect 0 "a terminal" env TERM=xterm script -qec "$program check $rules" /dev/null
  contains out $'\033[32m'
  expect 0 "a terminal with NO_COLOR" env TERM=xterm NO_COLOR=1 script -qec "$program check $rules" /dev/null
  ! grep -q $'\033\[3' "$directory/out" ||
    { echo "FAIL: colours in spite of NO_COLOR"; failures=$((failures + 1)); }
  expect 0 "a terminal without colours" env TERM=dumb script -qec "$program check $rules" /dev/null
  ! grep -q $'\033' "$directory/out" ||
    { echo "FAIL: escape sequences in spite of TERM=dumb"; failures=$((failures + 1)); }
fi

# A conversation: each answer is there before the next request is made.
coproc BATCH { "$program" batch; }
for id in 1 2; do
  echo "{\"id\":$id,\"operation\":\"InterpretHealth\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Service\"}}" \
    >&"${BATCH[1]}"
  answer=
  read -r -t 10 answer <&"${BATCH[0]}"
  [[ $answer == "{\"by\":\"Service\",\"id\":$id,\"layer\":\"native\",\"result\":true}" ]] ||
    { echo "FAIL: batch answers '$answer' to request $id"; failures=$((failures + 1)); }
done
exec {BATCH[1]}>&-
wait "$BATCH_PID" || { echo "FAIL: batch ends with an error"; failures=$((failures + 1)); }

# As a plugin of kubectl.
ln -s "$(realpath "$program")" "$directory/kubectl-karmada_interpret"
expect 0 "the plugin" "$directory/kubectl-karmada_interpret" --help
contains out "kubectl karmada-interpret"

[[ $failures == 0 ]] && echo "all fine"
exit $((failures > 0))
