#pragma once
// cupel-node's subcommands for jobs; README.md says what each promises and prints.
#include "base/result.h"
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

int start_job(Arguments arguments);
int tail_job(Arguments arguments);
int stop_job(Arguments arguments);
int tell_job(Arguments arguments);
int forget_job(Arguments arguments);
int list_jobs(Arguments arguments);

/// Says what is wrong on standard error, and gives the exit status for it.
int print_error(const Error& error);

}  // namespace cupel::agent
