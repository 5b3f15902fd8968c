// Asks a policy set whether a request may leave: ask BUNDLE HOST. Exit status 0 allowed, 2 denied,
// 1 could not ask. CGO_CFLAGS and CGO_LDFLAGS say where curfew.h and libcurfew.so are.
package main

/*
#cgo LDFLAGS: -lcurfew
#include <curfew.h>
#include <stdlib.h>
*/
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"
)

func failure(status C.curfew_status, problem *C.curfew_error) error {
	if status == C.CURFEW_OK {
		return nil
	}
	return errors.New(C.GoString(&problem.message[0]))
}

func decide(policy *C.curfew_policy, document any) (bool, []string, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return false, nil, err
	}
	copied := C.CBytes(text)
	defer C.free(copied)
	var problem C.curfew_error
	var request *C.curfew_request
	status := C.curfew_request_read(policy, (*C.char)(copied), C.size_t(len(text)), &request, &problem)
	if err := failure(status, &problem); err != nil {
		return false, nil, err
	}
	defer C.curfew_request_free(request)
	var verdict *C.curfew_verdict
	if err := failure(C.curfew_verdict_new(&verdict, &problem), &problem); err != nil {
		return false, nil, err
	}
	defer C.curfew_verdict_free(verdict)
	if C.curfew_decide(policy, request, verdict) != C.CURFEW_OK {
		return false, nil, errors.New("the request could not be decided")
	}
	allowed := C.curfew_verdict_allows(verdict) == 1
	kind := C.curfew_reason_kind(C.CURFEW_DENIALS)
	if allowed {
		kind = C.CURFEW_ALLOWS
	}
	var ids []string
	for i := C.size_t(0); i < C.curfew_verdict_reason_count(verdict, kind); i++ {
		var reason C.curfew_reason
		C.curfew_verdict_reason(verdict, kind, i, &reason)
		ids = append(ids, C.GoStringN(reason.id.data, C.int(reason.id.size)))
	}
	return allowed, ids, nil
}

func run(bundle, host string) (int, error) {
	if C.curfew_abi_version() != C.CURFEW_ABI_VERSION {
		return 1, errors.New("libcurfew is of another ABI")
	}
	bytes, err := os.ReadFile(bundle)
	if err != nil {
		return 1, err
	}
	copied := C.CBytes(bytes)
	defer C.free(copied)
	var problem C.curfew_error
	var policy *C.curfew_policy
	status := C.curfew_policy_open(unsafe.Pointer(copied), C.size_t(len(bytes)), nil, &policy, &problem)
	if err := failure(status, &problem); err != nil {
		return 1, err
	}
	defer C.curfew_policy_free(policy)
	type object = map[string]any
	allowed, ids, err := decide(policy, object{
		"version": 1, "action": "egress", "caller": object{"id": "user:ana"},
		"task":    object{"owner": "user:ana", "kind": "work", "ticket": "T-7"},
		"sandbox": object{"class": "work", "creator": "user:ana", "ttl_left": "30m", "idle": "0s"},
		"egress": object{"scheme": "https", "host": host, "ip": "93.184.216.34", "port": 443,
			"method": "GET", "path": "/simple/", "bytes": "0B", "requests": 1, "total": "0B"},
	})
	if err != nil {
		return 1, err
	}
	if allowed {
		fmt.Println("allow", strings.Join(ids, " "))
		return 0, nil
	}
	fmt.Println("deny", strings.Join(ids, " "))
	return 2, nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ask BUNDLE HOST")
		os.Exit(1)
	}
	status, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}
