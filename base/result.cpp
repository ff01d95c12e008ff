#include "base/result.h"

#include "base/enum_words.h"

namespace cupel {

std::string_view to_string(Code code) { return enum_word<'-'>(code); }

}  // namespace cupel
