#pragma once
// `cupel-node tcp`: bulk data over one TCP connection to another node and back.
#include "burnin/agent/node/subcommand.h"

namespace cupel::agent {

/// `serve` waits for the other node; `send` reads the token of its standard input and connects.
int measure_tcp(Arguments arguments);

}  // namespace cupel::agent
