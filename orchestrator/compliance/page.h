#pragma once
// Answers as text, Markdown, HTML and JSON.
#include <boost/json/object.hpp>

#include "orchestrator/compliance/answer.h"

namespace cupel::compliance {

std::string to_text(const Answers& answers);
/// CommonMark with tables. What comes from machines is text alone.
std::string to_markdown(const Answers& answers);
/// One file without scripts and other files; prints on paper. `when`: of its making, for people.
std::string to_html(const Answers& answers, std::string_view when);
/// Schema 1.
boost::json::object to_json(const Answers& answers);

}  // namespace cupel::compliance
