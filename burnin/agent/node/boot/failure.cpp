#include "burnin/agent/node/boot/failure.h"

#include "base/enum_words.h"

namespace cupel::agent::boot {

std::string_view to_string(Cause cause) { return enum_word<'-'>(cause); }

}  // namespace cupel::agent::boot
