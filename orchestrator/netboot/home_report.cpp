#include "orchestrator/netboot/home_report.h"

#include <boost/url/parse_query.hpp>

#include "base/json.h"
#include "base/never_null.h"
#include "base/text.h"

namespace cupel::netboot {
namespace {

constexpr std::size_t kMostFields = 32, kLongest = 8192;

Result<json::object> parse_form(std::string_view body) {
  const Terminated form{body};
  const auto fields = boost::urls::parse_query(form.view());
  if (!fields || fields->empty() || fields->size() > kMostFields)
    return Error{Code::kMalformed, "the report is neither JSON nor a form"};
  json::object report{{"version", 1}};
  json::array keys;
  for (const auto& field : *fields) {
    const auto name = field.key.decode(), value = field.value.decode();
    if (value.size() > kLongest) return Error{Code::kMalformed, "the report's form is too long"};
    if (name.starts_with("pub_key_") && value.starts_with("ssh-"))
      keys.emplace_back(printable(trimmed(value)));
    if (name == "hostname") report["hostname"] = printable(value);
  }
  report["ssh_host_keys"] = std::move(keys);
  return report;
}

}  // namespace

Result<json::object> parse_home_report(std::string_view body) {
  body = trimmed(body);
  if (!body.starts_with('{')) return parse_form(body);
  TRY(auto value, parse_json(body));
  if (!value.is_object()) return Error{Code::kMalformed, "the report is no JSON object"};
  return std::move(value.as_object());
}

}  // namespace cupel::netboot
