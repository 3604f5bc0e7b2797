// Names of the interpreter's metrics and events that other programs read, too.
#ifndef INTERPRETER_METRIC_NAMES_H_
#define INTERPRETER_METRIC_NAMES_H_

namespace interpreter {

// A histogram of seconds: layer, kind, operation, result.
inline constexpr char kOperationDurationMetric[] = "karmada_interpreter_operation_duration_seconds";
// A histogram of seconds: customization, operation, result. It begins again with another text of a
// script.
inline constexpr char kScriptDurationMetric[] = "karmada_interpreter_script_duration_seconds";
// A histogram of seconds: hook, dialect, operation, result.
inline constexpr char kWebhookDurationMetric[] = "karmada_interpreter_webhook_duration_seconds";
// A gauge: kind, name.
inline constexpr char kLoadedGenerationMetric[] =
    "karmada_interpreter_configuration_loaded_generation";
// A gauge: kind, name.
inline constexpr char kConfigurationProblemsMetric[] = "karmada_interpreter_configuration_problems";

// The reason of the event on a configuration whose rules answer from now on. Its message begins
// with "Generation <n> ".
inline constexpr char kConfigurationLoadedReason[] = "ConfigurationLoaded";

}  // namespace interpreter

#endif  // INTERPRETER_METRIC_NAMES_H_
