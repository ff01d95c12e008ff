#include "rehearsal/sim/make_image.h"

#include <fstream>

#include "rehearsal/bmc/image.h"

namespace cupel::rehearsal {
namespace {

Result<ImagePlan> plan_of(const ImageSource& source) {
  ImagePlan plan{.model = source.model, .size = source.size};
  for (const auto& word : source.contents) {
    const auto equals = word.find('=');
    if (equals == word.npos)
      return Error{Code::kInvalid, "'" + word + "' must be COMPONENT=VERSION"};
    plan.contents.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return plan;
}

}  // namespace

SimExit make_image(const ImageSource& source) {
  const auto plan = plan_of(source);
  if (!plan) return print_error(plan.error(), SimExit::invalid);
  std::ofstream file{source.file, std::ios::binary | std::ios::trunc};
  ImageReader reader;
  const auto made = write_image(*plan, [&](std::string_view bytes) {
    reader.take(bytes);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  });
  if (!made) return print_error(made.error(), SimExit::invalid);
  file.close();
  if (!file)
    return print_error({Code::kFailed, source.file + " could not be written"}, SimExit::unfinished);
  const auto whole = reader.finish();
  say_line({{"file", source.file}, {"size", whole.size}, {"sha256", whole.sha256}});
  return SimExit::done;
}

}  // namespace cupel::rehearsal
