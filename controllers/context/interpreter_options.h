// What the daemon's flags and feature gates mean for the interpreter.
#ifndef CONTROLLERS_CONTEXT_INTERPRETER_OPTIONS_H_
#define CONTROLLERS_CONTEXT_INTERPRETER_OPTIONS_H_

#include "config/options.h"
#include "interpreter/live/live_interpreter.h"

namespace controllers {

// Everything that runs loops builds its interpreter from this, so that a plan (lens/plan) asks the
// same questions as the daemon.
interpreter::live::LiveOptions InterpreterOptions(const config::Options& options);

}  // namespace controllers

#endif  // CONTROLLERS_CONTEXT_INTERPRETER_OPTIONS_H_
