#include "inventory/baseline.h"

#include "base/enum_words.h"

namespace cupel::inventory {

std::string_view to_string(UpdateWay way) { return enum_word<'-'>(way); }

std::string_view to_string(FirmwareReset reset) { return enum_word<'-'>(reset); }

std::string_view to_string(FirmwareRecovery recovery) { return enum_word<'-'>(recovery); }

}  // namespace cupel::inventory
