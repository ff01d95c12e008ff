#pragma once
// A virtual rack that stands for whoever wants to talk to it, until SIGINT or SIGTERM.
#include <signal.h>

#include "rehearsal/sim/rack_source.h"
#include "rehearsal/sim/say.h"
#include "rehearsal/virtual_rack.h"

namespace cupel::rehearsal {

/// SIGINT and SIGTERM, blocked before any thread starts, so that wait() is the one place where
/// they arrive.
class Ends {
 public:
  Ends();
  void wait() const;

 private:
  sigset_t all_{};
};

/// `cupel-sim serve`: what its folder must hold, how each node is reached, and, when it has ended,
/// whether this machine was too slow for it.
SimExit serve_rack(const RackSource& source);

/// `cupel-sim check`: {"rack": {name, nodes, speed, seed}}, or {"problems": [...]}.
SimExit check_rack(const RackSource& source);

}  // namespace cupel::rehearsal
