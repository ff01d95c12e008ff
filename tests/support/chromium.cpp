#include "tests/support/chromium.h"

#include <stdlib.h>

#include <fstream>
#include <stdexcept>

#include "tests/support/child.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBrowser = "/usr/bin/chromium";
constexpr const char* kPdfToText = "/usr/bin/pdftotext";
constexpr std::chrono::seconds kPatience{180};

/// As the value of an attribute in quotes.
std::string attribute(const std::string& text) {
  std::string safe;
  for (const char c : text)
    if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  return safe;
}

}  // namespace

bool Chromium::installed() { return fs::exists(kBrowser) && fs::exists(kPdfToText); }

Chromium::Chromium() {
  std::string made = (fs::temp_directory_path() / "cupel-chromium-XXXXXX").string();
  if (::mkdtemp(made.data()) == nullptr) throw std::runtime_error{"no temporary folder"};
  folder_ = made;
}

Chromium::~Chromium() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

fs::path Chromium::write(const std::string& name, const std::string& text) const {
  std::ofstream{folder_ / name} << text;
  return folder_ / name;
}

std::string Chromium::chromium(std::vector<std::string> words) {
  const auto home = (folder_ / "profile").string();
  std::vector<std::string> all{kBrowser,
                               "--headless",
                               "--no-sandbox",  // it will not start for root with one
                               "--disable-gpu",
                               "--disable-quic",
                               "--no-first-run",
                               "--disable-background-networking",
                               "--disable-component-update",
                               "--disable-sync",
                               "--disable-dev-shm-usage",
                               "--user-data-dir=" + home};
  all.insert(all.end(), words.begin(), words.end());
  const auto ran = run(all, {"HOME=" + home}, kPatience);
  if (ran.status != 0) throw std::runtime_error{"chromium: " + ran.err};
  return ran.out;
}

std::string Chromium::printed(const std::string& html) {
  const auto page = write("page.html", html), pdf = folder_ / "page.pdf";
  chromium({"--no-pdf-header-footer", "--print-to-pdf=" + pdf.string(), "file://" + page.string()});
  const auto ran = run({kPdfToText, "-layout", pdf.string(), "-"}, {}, kPatience);
  if (ran.status != 0) throw std::runtime_error{"pdftotext: " + ran.err};
  return ran.out;
}

std::string Chromium::measured(const std::string& html, int width, const std::string& script) {
  const auto text = "<!doctype html><meta charset=utf-8><body><iframe style=\"border:0;width:" +
                    std::to_string(width) + "px;height:900px\" srcdoc=\"" + attribute(html) +
                    "\"></iframe><pre id=said></pre><script>onload=()=>{const page="
                    "document.querySelector('iframe').contentDocument;"
                    "document.getElementById('said').textContent='<<'+(()=>{" +
                    script + "})()+'>>'}</script>";
  const auto page = write("frame.html", text);
  const auto dom = chromium({"--dump-dom", "file://" + page.string()});
  const auto begin = dom.rfind("&lt;&lt;"), end = dom.rfind("&gt;&gt;");
  if (begin == dom.npos || end == dom.npos) throw std::runtime_error{"nothing measured: " + dom};
  return dom.substr(begin + 8, end - begin - 8);
}

}  // namespace cupel::testing
