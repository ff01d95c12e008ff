#include "orchestrator/store/damaged_run.h"

#include "base/text.h"
#include "orchestrator/store/repair.h"

namespace cupel::store {

std::string words_of_damage(const Store& store, engine::RunId run, const Error& error) {
  auto what = valid_utf8(error.what);
  const auto repairs = store::repairs(store.folder());
  if (!repairs) return what;
  const auto repair = repairs->find(run);
  if (repair != repairs->end()) what += "; " + in_words(repair->second);
  return what;
}

}  // namespace cupel::store
