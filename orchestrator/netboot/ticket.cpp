#include "orchestrator/netboot/ticket.h"

#include "base/enum_words.h"

namespace cupel::netboot {

std::string_view to_string(BootEvent::Kind kind) { return enum_word<'-'>(kind); }

}  // namespace cupel::netboot
