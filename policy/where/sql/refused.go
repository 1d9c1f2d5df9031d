package sql

// The functions, and what names of such begin with, that write, wait, lock, change
// the session, run a text as SQL, or reach files or other servers. Every one would
// be a Maybe without this list; with it the answer is as plain as the matter.
const (
	refusedPostgres = `
		brin_desummarize_range brin_summarize_new_values brin_summarize_range crosstab
		crosstab2 crosstab3 crosstab4 cursor_to_xml cursor_to_xmlschema
		gin_clean_pending_list http
		http_delete http_get http_post http_put loread lowrite nextval pg_cancel_backend
		pg_current_xact_id pg_execute_server_program pg_export_snapshot
		pg_import_system_collations pg_log_backend_memory_contexts
		pg_notify pg_prewarm pg_promote pg_reload_conf pg_rotate_logfile pg_stat_file
		pg_stat_statements_reset pg_switch_wal pg_terminate_backend pg_try_advisory_lock
		query_to_xml query_to_xml_and_xmlschema query_to_xmlschema set_config setseed setval
		ts_rewrite ts_stat txid_current`
	prefixesPostgres = `
		dblink lo_ pg_advisory_ pg_backup_ pg_clear_ pg_create_ pg_drop_ pg_file_
		pg_logical_ pg_logdir_ pg_logfile_ pg_ls_ pg_read_ pg_replication_ pg_restore_ pg_sleep
		pg_start_backup pg_stat_reset pg_stop_backup pg_sync_ pg_try_advisory_ pg_wal_replay_
		cron_ http_ postgres_fdw_`

	refusedMySQL = `
		benchmark get_lock last_insert_id load_file
		master_gtid_wait master_pos_wait nextval release_all_locks release_lock setval sleep
		source_pos_wait sys_bineval sys_eval sys_exec sys_get sys_set wait_for_executed_gtid_set
		wait_until_sql_thread_after_gtids`
	prefixesMySQL = `
		asynchronous_connection_failover_ audit_log_ group_replication_ keyring_ lib_mysqludf_ ps_
		service_get_ service_release_ set_firewall_ version_tokens_`

	refusedSQLite = `
		edit eval fts3_tokenizer fsdir load_extension lsmode readfile sqlite_log writefile zipfile
		sqlite_dbpage`

	refusedSQLServer = `
		fn_dump_dblog fn_get_audit_file fn_trace_gettable fn_xe_file_target_read_file opendatasource
		openquery openrowset openxml`
	prefixesSQLServer = "fn_xe_ sp_ xp_"
)
