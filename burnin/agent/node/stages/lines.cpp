#include "burnin/agent/node/stages/lines.h"

namespace cupel::agent {

void StageLines::asked(std::string_view name, double value) {
  write(JsonLine{"asked"}.add("name", name).add("value", value));
}

void StageLines::measured(std::string_view name, std::string_view part, double value) {
  write(JsonLine{"measured"}.add("name", name).add("part", part).add("value", value));
}

void StageLines::unmeasured(std::string_view name, std::string_view part, std::string_view why) {
  write(JsonLine{"unmeasured"}.add("name", name).add("part", part).add("why", why));
}

void StageLines::note(std::string_view name, std::string_view text) {
  write(JsonLine{"note"}.add("name", name).add("text", text));
}

void StageLines::phase(std::string_view name, double seconds) {
  write(JsonLine{"phase"}.add("name", name).add("seconds", seconds));
}

void StageLines::piece(std::string_view name, std::string_view out) {
  write(JsonLine{"piece"}.add("name", name).add("out", out));
}

void StageLines::evidence(std::string_view name, std::string_view part, const Command& command,
                          const Ran& ran) {
  JsonLine line{"evidence"};
  line.add("name", name).add("part", part).array("argv");
  for (const auto& word : command.argv) line.item(std::string_view{word});
  line.end();
  line.add("status", ran.status).add("cut", ran.cut).add("late", ran.late);
  line.add("out", std::string_view{ran.out}).add("err", std::string_view{ran.err});
  write(line);
}

}  // namespace cupel::agent
