#pragma once
// How many files this process may have open at once: every socket is one.
#include <cstddef>

#include "base/result.h"

namespace cupel::rehearsal {

/// Room for the sockets on which so many nodes and PDUs listen, and for clients: raises the soft
/// limit where it is too low. Errors: kInvalid (the hard one is).
Result<void> allow_files(std::size_t nodes, std::size_t pdus);

}  // namespace cupel::rehearsal
