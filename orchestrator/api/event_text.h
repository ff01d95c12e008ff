#pragma once
// An event of a journal as the API shows it: the data as it was written, byte by byte, and what it
// says to people. A list shows less of data that is large. A person who may not see all racks does
// not get what names other nodes.
#include "orchestrator/api/request_handler.h"

namespace cupel::api {

/// Bytes of JSON text: the most of one event's data that a list shows as it was written.
inline constexpr std::size_t kMostListedData = 16u << 10;

bool may_see(RequestHandler& handler, const Identity& identity, const store::EventText& event);

/// One JSON object, without a line end.
std::string event_json(const store::EventText& event, const Identity& identity);

/// The same for a list. Of data above kMostListedData it has the numbers, the flags and the texts
/// of up to 1 KiB alone, and `truncated` with the size of all data and the path of the whole event.
std::string listed_event_json(const store::EventText& event, const Identity& identity);

/// The whole event as an item of an event stream; `id` comes back as Last-Event-ID. Source: WHATWG
/// HTML, 9.2.6.
std::string stream_item(const store::EventText& event, std::string_view id,
                        const Identity& identity);

}  // namespace cupel::api
