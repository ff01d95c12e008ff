#include "orchestrator/engine/event.h"

#include "base/enum_words.h"

namespace cupel::engine {
std::string_view to_string(EventKind kind) { return enum_word<'-'>(kind); }

std::optional<EventKind> event_kind(std::string_view word) { return enum_of<EventKind, '-'>(word); }

}  // namespace cupel::engine
