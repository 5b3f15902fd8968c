# cmake -P: compiles SOURCE and holds what comes against VERDICT (compiles, refused) and EXPECTED (a pattern).
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${ROOT} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(VERDICT STREQUAL "compiles")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile:\n${said}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} must not compile, and does: there is a way round the gate")
elseif(NOT said MATCHES "${EXPECTED}")
  message(FATAL_ERROR "${SOURCE} fails for another reason than `${EXPECTED}`:\n${said}")
endif()
