#pragma once
// Who asks: recorded with what people do to runs and to the store.
#include <string>

namespace cupel::cli {

/// The login's name; the number where it has none.
std::string login_name();

}  // namespace cupel::cli
