// Names of the interpreter's metrics that others read, too.
#ifndef INTERPRETER_METRIC_NAMES_H_
#define INTERPRETER_METRIC_NAMES_H_

namespace interpreter {

// A histogram of seconds: layer, kind, operation, result.
inline constexpr char kOperationDurationMetric[] = "karmada_interpreter_operation_duration_seconds";
// A histogram of seconds: hook, dialect, operation, result.
inline constexpr char kWebhookDurationMetric[] = "karmada_interpreter_webhook_duration_seconds";
// A gauge: kind, name.
inline constexpr char kLoadedGenerationMetric[] =
    "karmada_interpreter_configuration_loaded_generation";

}  // namespace interpreter

#endif  // INTERPRETER_METRIC_NAMES_H_
