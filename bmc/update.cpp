#include "bmc/update.h"

#include "base/enum_words.h"

namespace cupel::bmc {

std::string_view to_string(UpdateProgress::State state) { return enum_word<' '>(state); }

}  // namespace cupel::bmc
